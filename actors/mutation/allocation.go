package mutation

import (
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Allocator assigns what the objects of one storage kind share, such as addresses and ports. It is
// safe for concurrent use.
type Allocator interface {
	// Allocate reserves what want needs beyond old, and writes what it chose into want. old is nil
	// for a create, want for a removal. If causes report unavailable values, nothing is reserved.
	// Committing the reservation releases what the change has given up.
	Allocate(key meta.Key, old, want tree.Tree) (*request.Reservation, []meta.Cause)
	// Observe accounts for a state that was stored without Allocate, by another writer or before
	// the start, even if it conflicts or is out of range. old is the replaced state, nil if none;
	// stored is nil for a removal. Causes name duplicates.
	Observe(key meta.Key, old, stored tree.Tree) []meta.Cause
}

// A DeletionGuard is an Allocator some of whose objects cannot be deleted while others need them.
type DeletionGuard interface {
	Allocator
	// CheckDelete returns a *meta.Status if an object cannot be deleted now.
	CheckDelete(key meta.Key) error
}

// allocate reserves what want needs. Its callers release that when they return or panic, unless a
// candidate has taken it over. Otherwise an address would stay taken forever.
func (e *Env) allocate(key meta.Key, old, want tree.Tree) (*request.Reservation, []meta.Cause) {
	if e.Allocator == nil {
		return nil, nil
	}
	return e.Allocator.Allocate(key, old, want)
}
