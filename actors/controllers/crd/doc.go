// Package crd serves the kinds of CustomResourceDefinitions. The Controller decides which names a
// CRD gets, adds its kinds to the store and to the catalog, and deletes its objects before the CRD
// goes. Package kinds/crd compiles CRDs.
package crd
