package mutation

import (
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Allocator hands out what the objects of one storage share, such as addresses and ports.
// Many owners of objects call it at once.
type Allocator interface {
	// Allocate sets aside what want needs beyond what old has, and writes what it chose into
	// want. old is nil for a create, want for a removal. Causes say what cannot be had;
	// nothing is set aside then, and the claim is nil.
	Allocate(key meta.Key, old, want tree.Tree) (Allocation, []meta.Cause)
	// Observe accounts for a state that was stored without Allocate, by another writer or before
	// the start, whatever else is taken or out of range now. old is the state that it replaces; nil
	// if there was none. stored is nil for a removal. Causes name what another object has too.
	Observe(key meta.Key, old, stored tree.Tree) []meta.Cause
}

// A Claim is what was set aside for one change. Exactly one of its methods is called, once.
type Allocation interface {
	// Commit makes it the object's own, and gives back what the change has let go.
	Commit()
	// Release gives it back: the change does not happen.
	Release()
	// Claims names what the change takes and what it gives back.
	Claims() (taken, released []string)
}

// allocate asks for what a change needs of what objects share.
func (e *Env) allocate(key meta.Key, old, want tree.Tree) (Allocation, []meta.Cause) {
	if e.Allocator == nil {
		return noAllocation{}, nil
	}
	allocation, causes := e.Allocator.Allocate(key, old, want)
	if allocation == nil {
		allocation = noAllocation{}
	}
	return allocation, causes
}

// pendingAllocation is a claim that is given back at the end of a function, be it by a panic, unless it
// has been passed on.
type pendingAllocation struct{ allocation Allocation }

func (h *pendingAllocation) release() {
	if h.allocation != nil {
		h.allocation.Release()
	}
}

func (h *pendingAllocation) transfer() Allocation {
	c := h.allocation
	h.allocation = nil
	return c
}

// NoAllocation is the claim of a change that needs nothing.
var NoAllocation Allocation = noAllocation{}

// noAllocation is the claim of a change that needs nothing.
type noAllocation struct{}

func (noAllocation) Commit()  {}
func (noAllocation) Release() {}

func (noAllocation) Claims() (taken, released []string) { return nil, nil }
