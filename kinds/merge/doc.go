// Package merge applies patches to trees: RFC 7386 merge patches (Merge), RFC 6902 JSON patches
// (JSONPatch) and strategic merge patches (Strategic). Package managedfields implements server-side
// apply.
//
// Results share all unchanged subtrees with the current tree, so they are immutable too.
//
// The result contains the patch's values regardless of their types and names. The caller passes the
// result to codec.Conform, which checks types and drops unknown fields.
//
// Even small patches can be expensive. JSON patches are limited in operations, copied bytes and
// moved items (MaxOperations, maxCopySize, maxMovedItems). Strategic merge patches are limited in
// the items that they merge into (maxMergeWork).
//
// # Strategic merge patches
//
// For each list, the kind's plan (schema.Field) declares whether a patch replaces the list or
// merges into it, and the merge key that identifies items. Directives are special members of a
// patch:
//
//	"$patch": "replace" | "delete" | "merge"   for the object or list item that contains it
//	"$retainKeys": [names]                     the only fields that the object keeps
//	"$deleteFromPrimitiveList/<field>": […]    values to remove from a list of scalars
//	"$setElementOrder/<field>": […]            the order of the resulting list
//
// # Errors
//
// Errors are *meta.Status with code 400 for a malformed patch, 413 for one that exceeds a limit,
// and 422 for an operation that does not apply to the current tree.
package merge
