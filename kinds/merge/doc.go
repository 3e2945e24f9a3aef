// Package merge applies patches to trees: RFC 7386 merge patches, RFC 6902 JSON
// patches and strategic merge patches.
//
// Its nouns are the current tree, the patch, and the result. The current tree is
// shared with others and is never written to; the result shares with it every
// sub-tree that the patch leaves alone, so it must be treated as immutable too.
//
// Values are those of schema.Tree: string, bool, int64, float64, nil, []any and
// tree.Tree. Results hold whatever the patch brought in; the caller passes them
// through codec.Conform, which checks types and drops unknown fields.
//
// Errors are *meta.Status: 400 for a patch that is malformed, 413 for one that asks
// for too much, 422 for an operation that cannot be carried out on the current tree.
package merge
