// Package rules defaults, prunes and validates objects. It validates the metadata first, then the
// fields against the kind's plan, and finally runs the kind's own functions.
//
// # Engine
//
// A schema.ValuePlan defines how one value is processed. compile.go compiles field options into the
// evaluators of evaluators.go and oneof.go. Package crd has the evaluators for OpenAPI schemas. The
// following files apply the plans of built-in and custom kinds:
//
//	default.go   Default and DefaultValue set defaults
//	prune.go     Prune drops unknown fields; for built-in kinds, decoding does that
//	walk.go      Fields and Items evaluate the contents of objects and lists
//	identity.go  identity and uniqueness of list items
//
// Declared rules compile into closures over trees. expression.go compiles the expressions,
// functions.go contains the functions that expressions can call, and declared.go runs the rules.
//
// # Faults
//
// Validation never stops at the first fault. Causes have a fixed order: metadata, fields in plan
// order (depth first), then the kind's rules and functions. A cause from a rule or function
// replaces a cause from the plan with the same type and path.
//
// The package retains none of its arguments. Only Default changes its tree.
package rules
