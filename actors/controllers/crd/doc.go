// Package crd serves the kinds of CustomResourceDefinitions. The Controller decides which names a
// CRD gets, adds its kinds to the store and the catalog, and deletes its objects before the CRD is
// removed. Package kinds/crd compiles CRDs.
package crd
