package request

import (
	"context"
	"slices"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A Reservation is what was set aside for one change, such as an address or a part of a quota. It
// ends with one call of either Commit or Release. A nil Reservation is empty.
type Reservation struct {
	// OnPublish replaces the store's Observer when the change is published, before OnCommit, with
	// the contract of Observer.Observe. nil leaves the change to the Observer.
	OnPublish func(k *schema.Kind, version uint64, old, now *meta.Object)
	// OnCommit and OnRelease are called by Commit and Release. They must not block, and may be nil.
	OnCommit, OnRelease func()
	Claims              []Claim
	Guards              []Guard
	Companions          []Companion
}

// Commit must be called when the change is stored.
func (r *Reservation) Commit() {
	if r != nil && r.OnCommit != nil {
		r.OnCommit()
	}
}

// Release must be called when the change does not happen: it was rejected later, could not be
// stored, restarted on another state, or was a dry run.
func (r *Reservation) Release() {
	if r != nil && r.OnRelease != nil {
		r.OnRelease()
	}
}

// With combines r and other. At most one of them has an OnPublish.
func (r *Reservation) With(other *Reservation) *Reservation {
	switch {
	case other == nil:
		return r
	case r == nil:
		return other
	}
	both := &Reservation{
		OnPublish:  r.OnPublish,
		OnCommit:   func() { r.Commit(); other.Commit() },
		OnRelease:  func() { r.Release(); other.Release() },
		Claims:     slices.Concat(r.Claims, other.Claims),
		Guards:     slices.Concat(r.Guards, other.Guards),
		Companions: slices.Concat(r.Companions, other.Companions),
	}
	if both.OnPublish == nil {
		both.OnPublish = other.OnPublish
	}
	return both
}

// A Claim names a unique resource, such as an address, that other servers of the same log also
// assign. The log rejects a change that claims what another change holds.
type Claim struct {
	Name    string
	Release bool // the change returns it
}

// A Guard names an aggregate of many objects that a change was computed from, and that other
// servers of the same log change too. The log rejects the change if another server has raised the
// guard after version Seen; changes of the same server know each other. Raise says that this change
// raises it.
type Guard struct {
	Name  string
	Seen  uint64
	Raise bool
}

// A Companion is an object that is created or deleted in the same commit as another one's change,
// such as the IPAddress of a Service's address.
type Companion struct {
	Key meta.Key
	// Object is the new object; nil means deletion.
	Object tree.Tree
	// Reserve returns the reservation for the companion; remains says that a deleted object stays
	// because of finalizers. Reserve may be nil.
	Reserve func(remains bool) *Reservation
}

// A ContendedError says that a reservation depends on changes that are still being stored. Wait
// returns when the outcome may differ or ctx ends; the change must then be computed again.
type ContendedError struct{ Wait func(ctx context.Context) }

func (*ContendedError) Error() string {
	return "request: whether there is room depends on other changes"
}
