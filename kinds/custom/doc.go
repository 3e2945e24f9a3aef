// Package custom makes kinds of the objects that define them: CustomResourceDefinitions.
//
// A definition has versions, and each version a structural schema of OpenAPI. Of each version that is served, and of
// the one that is stored, Compiler.Compile makes a schema.Kind, with the same parts as a built-in one, so that
// everything else, from HTTP to ownership, takes it like any other:
//
//	Message          the fields, with list types, keys and atomic parts, for ownership. What a schema leaves
//	                 open is in Message.Additional. Nothing in it has a Protobuf form.
//	Message.Values   the schema as a value plan: defaults, pruning, and the evaluators of everything that
//	                 it asks of values (values.go, evaluators.go, combinators.go). Package rules walks it.
//	Message.Custom   that bodies are read as they are
//	Strategy         ValidateServed holds a write against the schema of its version; Evaluate runs the rules
//	                 in CEL, which end with the context
//	Conversion       between versions: nothing but the other apiVersion, and what that version's schema
//	                 drops and fills in; or a webhook (Origin.ConversionWebhook), with the WorkingForm of each version
//	Origin           the CustomResourceDefinition: its name, its webhook, the schema of each version
//
// # Compiling
//
// Compile looks at no schema: that of each version is a schema.Schema, which is the stored text until somebody asks for the
// message (schema.go). What is compiled then is kept within a bound, and dropped when it is idle or its definition has gone. Rules
// and conversions ask for it each time they run. Outline reads a definition without its schemas.
//
// Columns, SelectFields, Subresources and Verbs are as the definition says. Texts of faults are those that clients know.
//
// A node is the schema of one value as the definition has it (node.go). Value plans are compiled from it, and so are
// the plan for ownership (plan.go) and the schemas of expressions (selfschema.go).
//
// # Updates
//
// A part of an object that an update leaves as it was is not validated again: a schema may become stricter while
// objects exist that do not meet it (lists without keys are looked at as a whole). Compiling never fails: what is no
// valid schema has been refused when the definition was written, and what is left counts as open.
//
// # Storage
//
// Objects stay stored as they were written, whatever becomes of their schema: pruning and defaults by the current
// schema apply when they are read (convert.ToCurrentSchema), and are stored with the next write. An object
// remembers to which compiled schema it conforms (Custom.SchemaID), so that it is compared only once.
//
// # Rules in CEL
//
// Expressions are those of package cel. A definition is refused if the estimated cost of a rule, or of all together, is
// above the limits (rulecost.go), which depends on the limits of the schema around it. Rules are compiled when they first
// run. All of an object share a budget, with which its evaluation ends; so it does with its context, or after some
// seconds. Rules without oldSelf do not run for what an update leaves as it was.
//
// Values are those of trees (tree.Tree), with null where it is allowed.
package custom
