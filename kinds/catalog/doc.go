// Package catalog is the list of all kinds: the declarations of package proto, compiled, with the
// strategies of kinds whose declaration does not say all (schema.Strategy), and the kinds that
// CustomResourceDefinitions add while the server runs.
//
// The strategies are in packages by API group below internal, such as internal/batch. Each lists
// its kinds in kinds.go (function Kinds), and kinds.go here lists the groups; nothing registers
// itself. New compiles the declarations and attaches the strategies (attach.go).
//
// A Catalog may be used by many at once. Kinds and messages are shared by everyone and never change.
package catalog
