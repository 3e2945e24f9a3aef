// Package apiextensions holds the rules of CustomResourceDefinitions: names and approval
// (customresourcedefinition.go), versions (version.go), and schemas: keywords and limits
// (schema.go), list types (listtype.go), and structure, so that every value has one type without
// evaluating alternatives (structural.go).
//
// Package custom compiles accepted CRDs.
//
// Paths and messages are those of kube-apiserver. Limits on size, depth and expressions are checked
// before any other walk of a schema, because walks are recursive and authors of CRDs may have no
// other rights.
package apiextensions
