package admission

import (
	"context"
	"slices"

	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/policy/authn"
)

// A WaitingPlugin asks outside about changes, such as a webhook. Selects says beforehand, for any change of a
// resource, whether it has anything to ask at all, so that others cost nothing; Applies says it of
// a change, in the turn of the object's owner.
type WaitingPlugin interface {
	Selects(k *schema.Kind, subresource string) bool
	Applies(a *Attributes) bool
	// Begin begins to ask about one change.
	Begin() WaitingCall
}

// A WaitingCall asks about one change, by the contract of request.WaitingCall.
type WaitingCall interface {
	Mutate(ctx context.Context, a *Attributes) error
	Validate(ctx context.Context, a *Attributes) error
}

// waitingAdmission is the waiting plugins for one request.
type waitingAdmission struct {
	user          *authn.User
	registrations []*Registration
}

var _ request.WaitingAdmission = (*waitingAdmission)(nil)

// MayApply implements request.WaitingAdmission.
func (w *waitingAdmission) MayApply(operation request.Verb) bool {
	return slices.ContainsFunc(w.registrations, func(r *Registration) bool { return r.runsFor(w.user, operation) })
}

// AppliesToNoOp implements request.WaitingAdmission.
func (w *waitingAdmission) AppliesToNoOp() bool {
	return slices.ContainsFunc(w.registrations, func(r *Registration) bool { return r.runsForNoOp(w.user) })
}

// Applies implements request.WaitingAdmission.
func (w *waitingAdmission) Applies(c request.Change) bool {
	a := attributesOf(w.user, c)
	return slices.ContainsFunc(w.registrations, func(r *Registration) bool { return r.waits(a) })
}

// waits tells whether a change waits for the plugin.
func (r *Registration) waits(a *Attributes) bool {
	return r.runsFor(a.User, a.Operation) && r.Waiting.Applies(a)
}

// Begin implements request.WaitingAdmission.
func (w *waitingAdmission) Begin() request.WaitingCall {
	call := &waitingCall{user: w.user, plugins: make([]startedCall, len(w.registrations))}
	for i, r := range w.registrations {
		call.plugins[i] = startedCall{r, r.Waiting.Begin()}
	}
	return call
}

// waitingCall asks the waiting plugins about one change, one after the other.
type waitingCall struct {
	user    *authn.User
	plugins []startedCall
}

type startedCall struct {
	registration *Registration
	WaitingCall
}

// Mutate implements request.WaitingCall.
func (w *waitingCall) Mutate(ctx context.Context, c request.Change) error {
	return w.each(c, func(p startedCall, a *Attributes) error { return p.Mutate(ctx, a) })
}

// Validate implements request.WaitingCall.
func (w *waitingCall) Validate(ctx context.Context, c request.Change) error {
	return w.each(c, func(p startedCall, a *Attributes) error { return p.Validate(ctx, a) })
}

// each asks the plugins that the change waits for, until one refuses it.
func (w *waitingCall) each(c request.Change, ask func(startedCall, *Attributes) error) error {
	a := attributesOf(w.user, c)
	for _, p := range w.plugins {
		if !p.registration.waits(a) {
			continue
		}
		if err := ask(p, a); err != nil {
			return err
		}
	}
	return nil
}
