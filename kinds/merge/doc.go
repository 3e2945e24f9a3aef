// Package merge applies patches to trees: RFC 7386 merge patches (Merge), RFC 6902 JSON patches (JSONPatch)
// and strategic merge patches (Strategic), which merge lists by the keys that a kind declares. Server-side
// apply, the fourth patch type, is package ownership.
//
// Each takes the current tree and a patch, and returns the resulting tree. The current tree is shared with
// readers and is never written to. The result shares with it every sub-tree that the patch leaves alone:
// so a patch of one field does not cost a copy of the object, and what is unchanged is recognized by its
// address afterwards (tree.SameRef). The result must therefore be treated as immutable too.
//
// Values are those of package tree. The result holds whatever the patch brought in, of any type and under
// any name; the caller passes it through codec.Conform, which checks types and drops unknown fields.
//
// A patch of a few bytes may ask for a lot: JSON patches are limited in their operations and in what they copy and
// move (MaxOperations, maxCopySize, maxMovedItems), strategic ones in what they are merged into (maxMergeWork).
//
// # Strategic merge patches
//
// The plan of a kind (schema.Field) declares for each list whether a patch replaces it or is merged into
// it, and by which key items are matched. Special members of a patch, the directives, say what plain values
// cannot:
//
//	"$patch": "replace" | "delete" | "merge"   for the object, or the list item, that holds it
//	"$retainKeys": [names]                     the only fields that the object keeps
//	"$deleteFromPrimitiveList/<field>": […]    values to remove from a list of scalars
//	"$setElementOrder/<field>": […]            the order of the list afterwards
//
// # Errors
//
// Errors are *meta.Status: 400 for a patch that is malformed, 413 for one that asks for too much, 422 for
// an operation that cannot be carried out on the current tree.
package merge
