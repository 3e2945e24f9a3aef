// Package apiextensions holds the rules of CustomResourceDefinitions: names and approval
// (customresourcedefinition.go), versions (version.go), schema keywords and limits (schema.go),
// list types (listtype.go), and structural schemas (structural.go). In a structural schema, every
// value has one type that does not depend on alternatives.
//
// Package crd compiles accepted CRDs.
//
// Paths and messages are those of kube-apiserver. The size, depth and expressions of a schema are
// limited before any other function walks the schema, because walks are recursive and CRD authors
// may be untrusted.
package apiextensions
