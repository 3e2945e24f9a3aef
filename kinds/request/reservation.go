package request

import (
	"context"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A Reservation is what was set aside for one change, such as a part of a quota. Exactly one of its
// methods is called, once. Neither may block.
type Reservation interface {
	// Commit says that the change is stored.
	Commit()
	// Release says that the change does not happen: it was refused later, could not be stored,
	// began again on another state, or was a dry run.
	Release()
}

// A Claimant is a Reservation of what other servers of the same log give out too. It names what the change takes
// and what it gives back, by which the log refuses a change that takes what another one has.
type Claimant interface {
	Reservation
	Claims() (taken, released []string)
}

// A Guarded change is a Reservation that was computed on a sum of many objects, which other servers of the same log change too.
type Guarded interface {
	Reservation
	Guards() []Guard
}

// A Guard names such a sum. Seen is the version up to which it was known: the log refuses the change if a later one has
// raised the guard. Raise says that the change raises it; those of the same server that do so know each other and
// do not count then.
type Guard struct {
	Name  string
	Seen  uint64
	Raise bool
}

// A Companion is an object that comes or goes in the same commit as the change of another one, such as the
// IPAddress of an address that a Service takes.
type Companion struct {
	Key meta.Key
	// Object is the new object; nil if the object is to be deleted.
	Object tree.Tree
	// Reserved is called with the outcome for the companion: it is released if the change does not happen. remains
	// says that a deleted object stays, because it has finalizers.
	Reserved func(remains bool) Reservation
}

// An Accompanied change is a Reservation whose change has companions.
type Accompanied interface {
	Reservation
	Companions() []Companion
}

// NoReservation is the Reservation of a change that needs nothing.
var NoReservation Reservation = noReservation{}

type noReservation struct{}

func (noReservation) Commit()  {}
func (noReservation) Release() {}

// Reservations are many as one. Nil ones and NoReservation count for nothing.
func Reservations(all ...Reservation) Reservation {
	var some ReservationList
	for _, r := range all {
		if r != nil && r != NoReservation {
			some = append(some, r)
		}
	}
	switch len(some) {
	case 0:
		return NoReservation
	case 1:
		return some[0]
	}
	return some
}

// A ReservationList is several Reservations for one change.
type ReservationList []Reservation

// Commit implements Reservation.
func (all ReservationList) Commit() {
	for _, r := range all {
		r.Commit()
	}
}

// Release implements Reservation.
func (all ReservationList) Release() {
	for _, r := range all {
		r.Release()
	}
}

// Claims implements Claimant.
func (all ReservationList) Claims() (taken, released []string) {
	for _, r := range all {
		if c, ok := r.(Claimant); ok {
			t, l := c.Claims()
			taken, released = append(taken, t...), append(released, l...)
		}
	}
	return taken, released
}

// Guards implements Guarded.
func (all ReservationList) Guards() (guards []Guard) {
	for _, r := range all {
		if g, ok := r.(Guarded); ok {
			guards = append(guards, g.Guards()...)
		}
	}
	return guards
}

// Companions implements Accompanied.
func (all ReservationList) Companions() []Companion {
	var companions []Companion
	for _, r := range all {
		if a, ok := r.(Accompanied); ok {
			companions = append(companions, a.Companions()...)
		}
	}
	return companions
}

// A ContendedError says that a reservation can neither be made nor be refused yet, because that depends on
// changes that are being stored. Wait returns when it may be otherwise, or ctx ends; then the change
// is to be computed again.
type ContendedError struct{ Wait func(ctx context.Context) }

// Error implements error.
func (*ContendedError) Error() string {
	return "request: whether there is room depends on other changes"
}
