// Package apiextensions holds the rules of CustomResourceDefinitions: what a definition is called
// and who may approve it (customresourcedefinition.go), its versions (version.go), and its schemas:
// keywords and limits (schema.go), list types (listtype.go), and that they are structural, so that
// every value has one type that can be found without evaluating alternatives (structural.go).
//
// What becomes of an accepted definition is in package custom.
//
// Every path and message is that of the API that controller authors test against. The limits on size, depth
// and expressions come before everything else that walks a schema: definitions are written by users who may
// create nothing else, and each walk is recursive.
package apiextensions
