package mutation

import (
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
)

// An Allocator assigns values that must be unique among the objects of one storage kind, such as
// addresses and ports. It is safe for concurrent use.
type Allocator interface {
	// Allocate reserves the values in want that old does not have. It assigns missing values, such
	// as a cluster IP, and writes them into want. old is nil for a create, and want is nil for a
	// removal. If a value is unavailable, Allocate returns causes and reserves nothing. Committing
	// the reservation frees the values that are only in old.
	Allocate(key meta.Key, old, want tree.Tree) (*request.Reservation, []meta.Cause)
	// Observe marks the values of a stored object as used. It is called for objects that were
	// stored without Allocate, by another writer or before the server started. Their values may
	// conflict or be out of range. old is the replaced object or nil. stored is nil for a removal.
	// The returned causes report duplicate values.
	Observe(key meta.Key, old, stored tree.Tree) []meta.Cause
}

// A DeletionGuard is an Allocator that rejects the deletion of objects that others still need.
type DeletionGuard interface {
	Allocator
	// CheckDelete returns a *meta.Status if the object cannot be deleted now.
	CheckDelete(key meta.Key) error
}

// allocate calls the Allocator, if any. Unless a candidate takes over the reservation, the caller
// must release it, even after a panic. Otherwise, the values would stay allocated forever.
func (e *Env) allocate(key meta.Key, old, want tree.Tree) (*request.Reservation, []meta.Cause) {
	if e.Allocator == nil {
		return nil, nil
	}
	return e.Allocator.Allocate(key, old, want)
}
