// Package apiextensions validates and defaults CustomResourceDefinitions: names and approval
// (customresourcedefinition.go), versions (version.go), schema keywords and limits (schema.go),
// list types (listtype.go), and structural schemas (structural.go). In a structural schema, every
// value has one type, regardless of the alternatives that match.
//
// Package crd compiles accepted CRDs.
//
// Field paths and error messages match kube-apiserver's. Schema size, depth and expressions are
// limited before any other function walks the schema, because walks are recursive and CRD authors
// may be untrusted.
package apiextensions
