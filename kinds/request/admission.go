package request

import (
	"context"

	"github.com/troupe-api/troupe/kinds/tree"
)

// Admission completes, checks or refuses the change that a Mutation makes, on behalf of policy. It
// is computed alone and waits for nothing: it runs in the turn of the object's owner, possibly
// again for another state, and has no effect but on the change. Many goroutines may call it at
// once. Errors are *meta.Status.
type Admission interface {
	// Applies tells whether anything is admitted for an operation (Create, Update or Delete) of the
	// mutation's kind and sub-resource. Where it does not apply it costs nothing; where it does,
	// no shortcut skips it.
	Applies(operation Verb) bool
	// Admit is called before the change is validated. It may complete c.New.
	Admit(c Change) error
	// Validate is called when the change has passed validation. It changes nothing.
	Validate(c Change) error
}

// A WaitingAdmission asks outside of the object's owner, such as a webhook or the owner of a quota, and waits
// for the answer. It is called on the goroutine of the request
// while the object's owner goes on with other mutations. Its answer counts only if the object is
// still as it was then; else the mutation begins again on the new state, and asks again. Many
// goroutines may call it at once. Errors are *meta.Status; a panic is answered 500.
//
// Mutate and Validate must return soon after ctx has ended. Both may use the store, also to read or
// change the very object.
type WaitingAdmission interface {
	// Applies tells whether a change, as far as it is prepared, is one to wait for. It runs in
	// the owner's turn as Admission does.
	Applies(c Change) bool
	// Mutate is called first. It may change c.New, which is its own copy, but for what only the server sets
	// in metadata; the change then passes Admission.Admit again, and validation.
	Mutate(ctx context.Context, c Change) (warnings []string, err error)
	// Validate is called last, with the state that would be stored. It changes nothing.
	Validate(ctx context.Context, c Change) (Verdict, error)
}

// A Verdict is what a WaitingAdmission says of a change that it lets pass.
type Verdict struct {
	Warnings    []string
	Reservation Reservation // nil if nothing was set aside
}

// Conclude commits or releases the reservation of a verdict.
func (v Verdict) Conclude(commit bool) {
	switch {
	case v.Reservation == nil:
	case commit:
		v.Reservation.Commit()
	default:
		v.Reservation.Release()
	}
}

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

// A Change is what is admitted, in stored form. Old is nil for an object that does not exist yet, New
// for one that is to be deleted. Only New may be changed, and only where it is said.
type Change struct {
	Mutation *Mutation
	Old, New tree.Tree
}

// Operation is what the mutation comes to: Create, Update or Delete. An apply may be a Create or an
// Update; a create of a sub-resource is an Update of its object.
func (c *Change) Operation() Verb {
	switch {
	case c.New == nil:
		return Delete
	case c.Old == nil:
		return Create
	}
	return Update
}

// Admits tells whether an Admission applies to an operation of m, or a WaitingAdmission may.
func (m *Mutation) Admits(operation Verb) bool {
	return m.Waiting != nil || m.Admission != nil && m.Admission.Applies(operation)
}

// Admit asks the Admission of m, if one applies.
func (m *Mutation) Admit(old, wanted tree.Tree) error {
	c := Change{Mutation: m, Old: old, New: wanted}
	if m.Admission == nil || !m.Admission.Applies(c.Operation()) {
		return nil
	}
	return m.Admission.Admit(c)
}

// ValidateAdmission asks the Admission of m, if one applies, about a valid change.
func (m *Mutation) ValidateAdmission(old, wanted tree.Tree) error {
	c := Change{Mutation: m, Old: old, New: wanted}
	if m.Admission == nil || !m.Admission.Applies(c.Operation()) {
		return nil
	}
	return m.Admission.Validate(c)
}

// AdmitOperation asks all of the admission of m about an operation that stores nothing under its own name,
// such as an eviction; body may be completed. The caller commits or releases the verdict's
// reservation, which is not nil.
func (m *Mutation) AdmitOperation(ctx context.Context, body tree.Tree) (Verdict, error) {
	v := Verdict{Reservation: NoReservation}
	if err := m.Admit(nil, body); err != nil {
		return v, err
	}
	c := Change{Mutation: m, New: body}
	waits := m.Waiting != nil && m.Waiting.Applies(c)
	var warnings []string
	if waits {
		var err error
		if warnings, err = m.Waiting.Mutate(ctx, c); err != nil {
			return v, err
		}
		if err = m.Admit(nil, body); err != nil {
			return v, err
		}
	}
	if err := m.ValidateAdmission(nil, body); err != nil {
		return v, err
	}
	if waits {
		verdict, err := m.Waiting.Validate(ctx, c)
		if err != nil {
			return v, err
		}
		v.Warnings = append(warnings, verdict.Warnings...)
		if verdict.Reservation != nil {
			v.Reservation = verdict.Reservation
		}
	}
	return v, nil
}

// NoReservation is the Reservation of a change that needs nothing.
var NoReservation Reservation = noReservation{}

type noReservation struct{}

func (noReservation) Commit()  {}
func (noReservation) Release() {}

// Reservations are many as one. Nil ones and NoReservation count for nothing.
func Reservations(all ...Reservation) Reservation {
	var some reservations
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

type reservations []Reservation

func (all reservations) Commit() {
	for _, r := range all {
		r.Commit()
	}
}

func (all reservations) Release() {
	for _, r := range all {
		r.Release()
	}
}

func (all reservations) Claims() (taken, released []string) {
	for _, r := range all {
		if c, ok := r.(Claimant); ok {
			t, l := c.Claims()
			taken, released = append(taken, t...), append(released, l...)
		}
	}
	return taken, released
}
