// Package rewrites attributes changes to field managers and finds objects that controllers write
// repeatedly.
//
//	Write   a change with its manager and fields
//	Finder  counts the writes of each object
//	Object  an object that is written too often, or whose fields change back and forth
//
// Findings depend only on the sequence of changes, never on time. The manager of a change is in
// managedFields: its entry owns a changed field or has a new time. A delete has no manager, and
// neither has an update that only removes fields of others.
package rewrites
