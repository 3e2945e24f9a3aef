// Package catalog is the list of all kinds: the declarations of package proto, compiled,
// with the functions for what a declaration cannot say, which rules.go lists.
//
// A Catalog is immutable; kinds and messages are shared by everyone.
package catalog
