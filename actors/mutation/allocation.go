package mutation

import (
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Allocator hands out what the objects of one storage share, such as addresses and ports.
// Many goroutines call it at once.
type Allocator interface {
	// Allocate sets aside what want needs beyond what old has, and writes what it chose into
	// want. old is nil for a create, want for a removal. Causes say what is not available; then
	// nothing is set aside. Commit of the reservation gives back what the change has let go.
	Allocate(key meta.Key, old, want tree.Tree) (*request.Reservation, []meta.Cause)
	// Observe accounts for a state that was stored without Allocate, by another writer or before
	// the start, whatever else is taken or out of range now. old is the state that it replaces; nil
	// if there was none. stored is nil for a removal. Causes name what another object has too.
	Observe(key meta.Key, old, stored tree.Tree) []meta.Cause
}

// A DeletionGuard is an Allocator some of whose objects cannot be deleted, since others need them.
type DeletionGuard interface {
	Allocator
	// CheckDelete says why an object cannot be deleted now, as a *meta.Status; nil if it can.
	CheckDelete(key meta.Key) error
}

// allocate asks for what a change needs of what objects share.
func (e *Env) allocate(key meta.Key, old, want tree.Tree) (*request.Reservation, []meta.Cause) {
	if e.Allocator == nil {
		return nil, nil
	}
	return e.Allocator.Allocate(key, old, want)
}

// pendingReservation is released at the end of a function, be it by a panic, unless it was transferred to
// somebody else. Without it, an address would stay taken for ever if anything between allocation and commit
// failed.
type pendingReservation struct{ reserved *request.Reservation }

func (p *pendingReservation) release() { p.reserved.Release() }

func (p *pendingReservation) transfer() *request.Reservation {
	r := p.reserved
	p.reserved = nil
	return r
}
