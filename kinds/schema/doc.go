// Package schema turns the declarations of kinds into plain tables: the plan, over which every engine of package kinds
// walks. It is the only reader of options.
//
//	Plan        all kinds and messages of a set of declarations (Compile)
//	Kind        how a resource is served: names, verbs, sub-resources, columns
//	Origin      what a CustomResourceDefinition adds to its kinds
//	Message     the structure of an object or of a part of one; its fields in order of declaration
//	Field       the type of a field, how it is encoded and merged, and what its options ask of values
//	ValuePlan   what package rules makes of that, once: the defaults, and the evaluators of each value
//	Strategy    the behavior that no option expresses
//
// The kinds that users define at run time have the same parts (package custom), except that a schema of OpenAPI is
// compiled into their value plans, and Message.Custom says how their objects are stored.
//
// An Evaluation is one check of one object. It knows the path to the value that is being looked at as bytes in a
// buffer, so that an object without faults costs no text.
//
// Everything here is immutable once it is compiled, and may be used by many at once; an Evaluation and Faults
// belong to one check.
package schema
