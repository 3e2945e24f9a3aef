// Package schema loads the declarations of kinds into a Plan. Only this package and the generator
// read declaration options.
//
//	Plan        all kinds and messages of a set of declarations (Load)
//	Declaration a declared message, compiled on first use
//	Kind        how a resource is served: names, verbs, subresources, columns
//	Origin      the properties of a kind that come from its CustomResourceDefinition
//	Message     the structure of an object or a part of one; its fields in declaration order
//	Field       the type, encoding, merging and constraints of a field
//	ValuePlan   defaults and evaluators of a value, compiled by package rules
//	Strategy    behavior that no option expresses
//
// Custom kinds use the same types (package crd). Their value plans are compiled from OpenAPI
// schemas, and Message.Custom defines how their objects are decoded.
//
// An Evaluation is one check of one object. It keeps the path to the current value as bytes, so
// that an object without errors allocates no strings.
//
// Compiled values are immutable and safe for concurrent use. An Evaluation and its Faults belong to
// one check.
package schema
