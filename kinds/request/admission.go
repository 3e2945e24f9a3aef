package request

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/troupe-api/troupe/kinds/tree"
)

// A Mutator may change an object before it is validated. It leaves alone what it does not handle.
// Admit may run again, on the same object or on a newer state, and then has the same result. Many
// goroutines may use a Mutator at once. Errors are *meta.Status.
type Mutator interface {
	Handles(a *Attributes) bool
	Admit(a *Attributes) error
}

// A Validator may refuse a change that has passed validation. It changes nothing. Many goroutines may
// use it at once. Errors are *meta.Status.
type Validator interface {
	Handles(a *Attributes) bool
	Validate(a *Attributes) error
}

// HandlesAll is embedded in plugins that handle every change for which they are registered.
type HandlesAll struct{}

// Handles returns true.
func (HandlesAll) Handles(*Attributes) bool { return true }

// A Stage is where a plugin runs.
type Stage uint8

// The stages.
const (
	// InTurn plugins run in the turn of the object's owner, so they must not block.
	InTurn Stage = iota
	// MayBlock plugins run on the goroutine of the request, after those in turn. The owner goes on with
	// other mutations meanwhile. If the object has changed then, the mutation begins again. They
	// return soon after the context of the request has ended, and may use the store.
	MayBlock
	// Last Validators run in the turn of the owner, when nothing else refuses the change. They alone
	// may call Attributes.Reserve.
	Last
)

// An Operation is what a change does to an object. A set of operations is their sum.
type Operation uint8

// The operations. An apply may be a create or an update. A create of a subresource is an update of its
// object.
const (
	OnCreate Operation = 1 << iota
	OnUpdate
	OnDelete
	OnConnect
)

// A Plugin is a Mutator, a Validator, or both.
type Plugin struct {
	// Stage applies to both. What blocks only sometimes has one Plugin for each stage.
	Stage Stage
	// Operations are those that the plugin runs for; 0 means all.
	Operations Operation
	// SkipsNoOps reports that the plugin ignores updates that change nothing, since the object was
	// admitted when it was stored. A repeated apply then costs nothing.
	SkipsNoOps bool

	Mutator   Mutator
	Validator Validator
}

// RunsFor reports whether the plugin runs for an operation.
func (p *Plugin) RunsFor(o Operation) bool { return p.Operations == 0 || p.Operations&o != 0 }

// handles reports whether the plugin handles a change.
func (p *Plugin) handles(a *Attributes) bool {
	return p.RunsFor(a.Operation) && (p.Mutator != nil && p.Mutator.Handles(a) || p.Validator != nil && p.Validator.Handles(a))
}

// An Admission is what the changes of one request have to pass: the plugins that may handle them, in
// their order. The nil Admission is empty.
type Admission struct {
	User    *User
	Plugins []*Plugin
	// Counted reports that the rate limits have counted the request, which may be computed many times.
	Counted atomic.Bool
}

func (all *Admission) has(match func(*Plugin) bool) bool {
	return all != nil && slices.ContainsFunc(all.Plugins, match)
}

// MayBlock reports whether any plugin may block.
func (all *Admission) MayBlock() bool {
	return all.has(func(p *Plugin) bool { return p.Stage == MayBlock })
}

// Admits reports whether an operation of m must be admitted. No shortcut skips it then.
func (m *Mutation) Admits(o Operation) bool {
	return o == OnCreate && m.CreateRefusal != nil || m.Admission.has(func(p *Plugin) bool { return p.RunsFor(o) })
}

// AdmitsNoOp reports whether an update by m that changes nothing must be admitted.
func (m *Mutation) AdmitsNoOp() bool {
	return m.Admission.has(func(p *Plugin) bool { return !p.SkipsNoOps && p.RunsFor(OnUpdate) })
}

// MayBeChanged reports whether admission may change the object of an operation of m. If not, the
// object may share parts with the body of the request.
func (m *Mutation) MayBeChanged(o Operation) bool {
	return m.Admission.has(func(p *Plugin) bool { return (p.Stage == MayBlock || p.Mutator != nil) && p.RunsFor(o) })
}

// Waits reports whether a plugin that may block handles the change.
func (a *Attributes) Waits() bool {
	return a.Mutation.Admission.has(func(p *Plugin) bool { return p.Stage == MayBlock && p.handles(a) })
}

// Admit runs the Mutators of a stage. If one of those in turn calls Rewrite, all run once more.
func (a *Attributes) Admit(s Stage) error {
	a.rewritten = false
	err := a.admit(s)
	if err != nil || s != InTurn || !a.rewritten || a.Reinvocation {
		return err
	}
	a.Reinvocation = true // the plugins before the one that called Rewrite have not seen the result
	return a.admit(s)
}

func (a *Attributes) admit(s Stage) error {
	return a.each(s, func(p *Plugin) error {
		if p.Mutator == nil || !p.Mutator.Handles(a) {
			return nil
		}
		return p.Mutator.Admit(a)
	})
}

// Validate runs the Validators of a stage.
func (a *Attributes) Validate(s Stage) error {
	return a.each(s, func(p *Plugin) error {
		if p.Validator == nil || !p.Validator.Handles(a) {
			return nil
		}
		return p.Validator.Validate(a)
	})
}

// each calls run for the plugins of a stage until one fails.
func (a *Attributes) each(s Stage, run func(*Plugin) error) error {
	if a.Mutation.Admission == nil {
		return nil
	}
	for _, p := range a.Mutation.Admission.Plugins {
		if p.Stage != s || !p.RunsFor(a.Operation) {
			continue
		}
		if err := run(p); err != nil {
			return err
		}
	}
	return nil
}

// AdmitLast runs the Validators of the last stage, and returns what they have reserved. If one
// refuses the change, or panics, nothing stays reserved.
func (a *Attributes) AdmitLast() (*Reservation, error) {
	passed := false
	defer func() {
		if !passed {
			a.reserved.Release()
		}
	}()
	a.reserved = nil
	if err := a.Validate(Last); err != nil {
		return nil, err
	}
	passed = true
	return a.reserved, nil
}

// AdmitOperation admits an operation that stores nothing under its own name, such as an eviction, or
// a connection. Admission may change body, which complete completes before it is validated. The caller
// commits or releases the reservation.
func (m *Mutation) AdmitOperation(ctx context.Context, body tree.Tree, complete func() error) (*Reservation, error) {
	a := NewAttributes(ctx, m, nil, body)
	if err := a.Admit(InTurn); err != nil {
		return nil, err
	}
	a.Reinvocation = false
	waits := a.Waits()
	if waits {
		if err := a.admitAround(); err != nil {
			return nil, err
		}
	}
	if err := complete(); err != nil {
		return nil, err
	}
	if err := a.Validate(InTurn); err != nil {
		return nil, err
	}
	if waits {
		if err := a.Validate(MayBlock); err != nil {
			return nil, err
		}
	}
	return a.AdmitLast()
}

// admitAround runs the Mutators that may block, those in turn again, and the former once more.
func (a *Attributes) admitAround() error {
	if err := a.Admit(MayBlock); err != nil {
		return err
	}
	a.Reinvocation = true
	if err := a.Admit(InTurn); err != nil {
		return err
	}
	return a.Admit(MayBlock)
}
