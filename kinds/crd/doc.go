// Package crd compiles CustomResourceDefinitions (CRDs) into kinds.
//
// A CRD has versions with structural OpenAPI schemas. Compiler.Compile creates a schema.Kind for
// each served version and for the stored version. These kinds have the same parts as built-in
// kinds:
//
//	Message          the fields, with list types, keys and atomic parts, for ownership.
//	                 Message.Additional describes undeclared fields. There is no Protobuf form.
//	Message.Values   the schema as a value plan: defaults, pruning, and evaluators for its
//	                 constraints (values.go, evaluators.go, combinators.go), run by package rules
//	Message.Custom   set, so that bodies are decoded without a plan
//	Strategy         ValidateServed validates a write against its version's schema; Evaluate
//	                 runs the CEL rules until the context is done
//	Conversion       between versions: changes the apiVersion, and prunes and defaults with the
//	                 other schema; or a webhook (Origin.ConversionWebhook), with a WorkingForm
//	                 for each version
//	Origin           the CRD: its name, its webhook, the schema of each version
//
// # Compilation
//
// Compile does not parse schemas. Each version has a schema.Schema, which contains only the stored
// JSON until its message is needed (schema.go). Compiled schemas are cached up to a limit.
//
// A node is the parsed schema of one value (node.go). Value plans, the plan for ownership (plan.go)
// and the schemas of expressions (selfschema.go) derive from it.
//
// # Updates
//
// An update does not validate the unchanged parts of an object again, because a schema may become
// stricter than existing objects. Lists without keys are validated as a whole. Compiling never
// fails, because invalid schemas were rejected when the CRD was written.
//
// # Storage
//
// Schema changes do not rewrite stored objects. Reads prune and default with the current schema
// (convert.ToCurrentSchema), and the next write stores the result. An object records the compiled
// schema to which it conforms (Custom.SchemaID), so that it is checked only once.
//
// # CEL rules
//
// Package cel evaluates the expressions. A CRD is rejected if the estimated cost of one rule, or of
// all rules, exceeds the limits (rulecost.go). The estimate depends on the maximum sizes in the
// surrounding schema. The rules of an object share a budget.
package crd
