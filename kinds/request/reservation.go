package request

import (
	"context"
	"slices"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A Reservation is what was set aside for one change, such as an address or a part of a quota. It
// ends with one call of either Commit or Release. A nil Reservation holds nothing.
type Reservation struct {
	// OnPublish is called in place of the store's Observer when the change is published, before
	// OnCommit. It has the contract of Observer.Observe; nil leaves the change to the Observer.
	OnPublish func(k *schema.Kind, version uint64, old, now *meta.Object)
	// OnCommit and OnRelease are called by Commit and Release. They must not block; nil does nothing.
	OnCommit, OnRelease func()
	Claims              []Claim
	Guards              []Guard
	Companions          []Companion
}

// Commit is called when the change is stored.
func (r *Reservation) Commit() {
	if r != nil && r.OnCommit != nil {
		r.OnCommit()
	}
}

// Release is called when the change does not happen: it was refused later, could not be stored, began
// again on another state, or was a dry run.
func (r *Reservation) Release() {
	if r != nil && r.OnRelease != nil {
		r.OnRelease()
	}
}

// With returns one Reservation that holds what r and other hold. At most one of the two has an OnPublish.
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

// A Claim names something that other servers of the same log give out too, such as an address. The log
// refuses a change that claims what another change holds.
type Claim struct {
	Name    string
	Release bool // the change gives it back
}

// A Guard names a sum of many objects that a change was computed on, and that other servers of the same
// log change too. The log refuses the change if a version later than Seen has raised the guard. Raise
// says that the change raises it; changes of the same server that do so know each other and do not
// count then.
type Guard struct {
	Name  string
	Seen  uint64
	Raise bool
}

// A Companion is an object that is created or deleted in the same commit as the change of another one,
// such as the IPAddress of an address that a Service takes.
type Companion struct {
	Key meta.Key
	// Object is the new object; nil if the object is to be deleted.
	Object tree.Tree
	// Reserve returns what is set aside for the companion; remains reports that a deleted object stays,
	// because it has finalizers. A nil Reserve sets nothing aside.
	Reserve func(remains bool) *Reservation
}

// A ContendedError reports that a reservation can neither be made nor be refused yet, because that
// depends on changes that are being stored. Wait returns when the outcome may differ, or ctx ends; then
// the change is to be computed again.
type ContendedError struct{ Wait func(ctx context.Context) }

// Error implements error.
func (*ContendedError) Error() string {
	return "request: whether there is room depends on other changes"
}
