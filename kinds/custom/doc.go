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
//	Rules.Served   everything that a valid object has to meet, in the version of the request.
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
// Values are those of trees (schema.Tree), with null where it is allowed.
package custom
