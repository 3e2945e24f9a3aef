// Package operations tests what is created and not stored, over HTTP: evictions, bindings,
// reviews of tokens and of access; and the sub-resources and versions that belong to them.
package operations
