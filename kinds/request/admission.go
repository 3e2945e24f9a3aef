package request

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/troupe-api/troupe/kinds/tree"
)

// A Mutator is an admission plugin that may change an object before validation. Admit ignores
// changes that the plugin does not handle. It must be idempotent, because it may run again on the
// same object or a newer version. Mutators are safe for concurrent use. Errors are *meta.Status.
type Mutator interface {
	Handles(a *Attributes) bool
	Admit(a *Attributes) error
}

// A Validator is an admission plugin that may reject a validated change, but not modify the object.
// Validators are safe for concurrent use. Errors are *meta.Status.
type Validator interface {
	Handles(a *Attributes) bool
	Validate(a *Attributes) error
}

// HandlesAll implements Handles for plugins that handle every change with one of their registered
// operations. Such plugins embed it.
type HandlesAll struct{}

func (HandlesAll) Handles(*Attributes) bool { return true }

// A Stage determines when a plugin runs and whether it may block.
type Stage uint8

const (
	// InTurn plugins run in the actor that processes an object's mutations one after another. They
	// must not block, because they would delay other mutations.
	InTurn Stage = iota
	// MayBlock plugins run on the request's goroutine, after the InTurn plugins, and may use the
	// store. Meanwhile, other mutations of the object may be processed. If they change it, the
	// mutation restarts. The plugins must return soon after the request's context is done.
	MayBlock
	// Last Validators run in the same actor as InTurn plugins, so they must not block. They run
	// after all other checks. Only they may call Attributes.Reserve.
	Last
)

// An Operation is the effect of a change on an object. Operations can be combined by bitwise OR.
type Operation uint8

// Operations of a change. A server-side apply counts as OnCreate or OnUpdate, depending on whether
// the object exists. Creating a subresource, such as a binding, counts as OnUpdate.
const (
	OnCreate Operation = 1 << iota
	OnUpdate
	OnDelete
	OnConnect
)

type Plugin struct {
	// Stage applies to both Mutator and Validator. A plugin that blocks only sometimes is
	// registered once per stage.
	Stage Stage
	// Operations selects the operations for which the plugin runs. Zero means all.
	Operations Operation
	// SkipsNoOps is true if the plugin need not run for updates that change nothing, because the
	// stored object was admitted before.
	SkipsNoOps bool

	Mutator   Mutator
	Validator Validator
}

// RunsFor reports whether the plugin runs for an operation.
func (p *Plugin) RunsFor(o Operation) bool { return p.Operations == 0 || p.Operations&o != 0 }

func (p *Plugin) handles(a *Attributes) bool {
	return p.RunsFor(a.Operation) && (p.Mutator != nil && p.Mutator.Handles(a) || p.Validator != nil && p.Validator.Handles(a))
}

// An Admission lists the plugins that may handle the changes of one request, in execution order.
// A nil Admission has no plugins.
type Admission struct {
	User    *User
	Plugins []*Plugin
	// Counted is set once rate limits have counted the request, because a change may be computed
	// several times.
	Counted atomic.Bool
}

func (all *Admission) has(match func(*Plugin) bool) bool {
	return all != nil && slices.ContainsFunc(all.Plugins, match)
}

// MayBlock reports whether any plugin may block.
func (all *Admission) MayBlock() bool {
	return all.has(func(p *Plugin) bool { return p.Stage == MayBlock })
}

// Admits reports whether an operation of m requires admission.
func (m *Mutation) Admits(o Operation) bool {
	return o == OnCreate && m.CreateRefusal != nil || m.Admission.has(func(p *Plugin) bool { return p.RunsFor(o) })
}

// AdmitsNoOp reports whether an update by m requires admission even if it changes nothing.
func (m *Mutation) AdmitsNoOp() bool {
	return m.Admission.has(func(p *Plugin) bool { return !p.SkipsNoOps && p.RunsFor(OnUpdate) })
}

// MayBeChanged reports whether admission may change the object during operation o of m. Otherwise,
// the object may share memory with the request body.
func (m *Mutation) MayBeChanged(o Operation) bool {
	return m.Admission.has(func(p *Plugin) bool { return (p.Stage == MayBlock || p.Mutator != nil) && p.RunsFor(o) })
}

// Waits reports whether any MayBlock plugin handles the change.
func (a *Attributes) Waits() bool {
	return a.Mutation.Admission.has(func(p *Plugin) bool { return p.Stage == MayBlock && p.handles(a) })
}

// Admit runs the Mutators of a stage. If an InTurn Mutator calls Rewrite, all Mutators of the stage
// run once more.
func (a *Attributes) Admit(s Stage) error {
	admit := func(p *Plugin) error {
		if p.Mutator == nil || !p.Mutator.Handles(a) {
			return nil
		}
		return p.Mutator.Admit(a)
	}
	a.rewritten = false
	err := a.each(s, admit)
	if err != nil || s != InTurn || !a.rewritten || a.Reinvocation {
		return err
	}
	a.Reinvocation = true // plugins before the one that called Rewrite have not seen the result
	return a.each(s, admit)
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

// AdmitLast runs the Validators of stage Last and returns their reservations. If one rejects the
// change or panics, AdmitLast releases the reservations.
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

// AdmitOperation admits a connection, or an operation that stores no object of its own, such as an
// eviction. It runs the Mutators, which may change body. Then it calls complete, which fills in the
// remaining fields of body, and runs the Validators. The caller must commit or release the
// reservation.
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

// admitAround runs the InTurn and MayBlock Mutators again, so that each one sees the changes of all
// others.
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
