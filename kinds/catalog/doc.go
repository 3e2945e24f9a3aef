// Package catalog lists all kinds: the compiled declarations of package api with the strategies of
// kinds that need code (schema.Strategy), and the kinds that CustomResourceDefinitions add at run
// time.
//
// Strategies live in packages by API group, such as api/batch. Each lists its kinds in
// kinds.go (function Kinds), and kinds.go here lists the groups; there is no registration. New
// compiles the declarations and attaches the strategies (attach.go).
//
// A Catalog is safe for concurrent use. Kinds and messages are shared and immutable.
package catalog
