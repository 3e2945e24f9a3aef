package request

import (
	"context"
	"slices"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A Reservation represents resources reserved for one change, such as an address or a part of a
// quota. Exactly one call of Commit or Release ends it. A nil Reservation is empty.
type Reservation struct {
	// OnPublish, if set, is called instead of the store's Observer when the change is published,
	// before OnCommit. It must follow the rules of Observer.Observe.
	OnPublish func(k *schema.Kind, version uint64, old, now *meta.Object)
	// OnCommit and OnRelease are called by Commit and Release. They must not block and may be nil.
	OnCommit, OnRelease func()
	Claims              []Claim
	Guards              []Guard
	Companions          []Companion
}

// Commit makes the reservation permanent. The caller must call it when the change is stored.
func (r *Reservation) Commit() {
	if r != nil && r.OnCommit != nil {
		r.OnCommit()
	}
}

// Release returns the reserved resources. The caller must call it if the change is not stored, for
// example because it fails, restarts or is a dry run.
func (r *Reservation) Release() {
	if r != nil && r.OnRelease != nil {
		r.OnRelease()
	}
}

// With combines r and other. At most one of them may have an OnPublish.
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

// A Claim reserves a unique resource, such as an address, among all servers that share one etcd. A
// change is rejected if another one already holds its Claim.
type Claim struct {
	Name    string
	Release bool // the change returns it
}

// A Guard protects a change that was computed from an aggregate of many objects, such as a quota's
// usage. The log rejects the change if another server has raised the guard after version Seen. If
// Raise is true, the change raises the guard. Changes on the same server need no guard.
type Guard struct {
	Name  string
	Seen  uint64
	Raise bool
}

// A Companion is an object that is created or deleted in the same commit as another object's
// change, such as the IPAddress for a Service's address.
type Companion struct {
	Key meta.Key
	// Object is the object to create, or nil to delete the companion.
	Object tree.Tree
	// Reserve returns the reservation for the companion, and may be nil. remains is true if
	// finalizers keep a deleted companion.
	Reserve func(remains bool) *Reservation
}

// A ContendedError reports that a reservation depends on changes that are still being stored. Wait
// blocks until the change should be computed again or ctx is done.
type ContendedError struct{ Wait func(ctx context.Context) }

func (*ContendedError) Error() string {
	return "request: whether there is room depends on other changes"
}
