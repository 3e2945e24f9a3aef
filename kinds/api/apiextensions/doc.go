// Package apiextensions validates and defaults CustomResourceDefinitions, which package crd
// compiles. In a structural schema, every value has one type, regardless of the alternatives that
// match.
//
// Field paths and error messages match kube-apiserver's. Schema size, depth and expressions are
// limited before any other function walks the schema, because walks are recursive and CRD authors
// may be untrusted.
package apiextensions
