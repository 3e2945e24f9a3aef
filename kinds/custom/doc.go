// Package custom makes kinds of the objects that define them: CustomResourceDefinitions.
//
// A definition has versions, and each version a structural schema of OpenAPI. Of each version
// that is served, and of the one that is stored, Kinds makes a schema.Kind, with the same parts
// as a built-in one, so that everything else, from HTTP to ownership, takes it like any other:
//
//	Message        the fields, with list types, keys and atomic parts: what ownership walks over.
//	               What a schema leaves open is in Message.Other. Nothing in it has a wire form.
//	Message.Custom says that bodies are read as they are, and how they are pruned.
//	Rules.Default  the defaults of the schema; nulls that nobody wants go on the way.
//	Rules.Served   everything that a valid object has to meet, in the version of the request, but for
//	Rules.Evaluate its rules in CEL, which end with the context.
//	Conversion     between versions: nothing but the other apiVersion, and what that version's
//	               schema drops and fills in.
//	Columns, SelectFields, Subresources, Verbs as the definition says.
//
// What a plan cannot say of a value (nullable, bounds of any kind, anyOf, rules in CEL) is in a
// node, the compiled schema. The walks over it are pruning (prune.go), defaults (default.go)
// and validation (validate.go, limits.go, lists.go). Texts of faults are those that clients know.
//
// A part of an object that an update leaves as it was is not validated again: a schema may
// become stricter while objects exist that do not meet it (lists without keys are looked at as
// a whole). Compiling never fails: what is no valid schema has been refused when the definition
// was written, and what is left is taken as open.
//
// Objects stay stored as they were written, whatever becomes of their schema: pruning and defaults by
// the schema of the day count when they are read (convert.Current), and reach the store with the
// next write. Custom.Form is what an object remembers to have the form of one compiled schema, so that
// it is compared only once.
//
// Types of rules are named "@self.spec.size": no expression can spell such a name. Rules cost what
// cost.go says, in the units of CEL: 1,000,000 for one evaluation and 10,000,000 for an object, as users know
// it. Costs count all that is in what a call is given; calls that can take far longer, or make far
// more, than they are given (guarded) look at their cost before they do anything.
//
// Values are those of trees (schema.Tree), with null where it is allowed.
package custom
