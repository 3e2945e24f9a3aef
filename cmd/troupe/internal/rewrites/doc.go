// Package rewrites attributes changes to field managers and finds objects that controllers keep
// rewriting.
//
//	Write   a change with its manager and fields
//	Finder  counts the writes of each object
//	Object  an object that is written too often, or whose fields are set back and forth
//
// Findings depend only on the sequence of changes, never on time. A manager is found by its entry
// in managedFields: the one that owns a changed field, or whose time has changed. A delete has
// none, and neither has an update that only removes fields of others.
package rewrites
