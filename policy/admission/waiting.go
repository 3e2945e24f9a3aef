package admission

import (
	"context"
	"slices"

	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/policy/authn"
)

// A WaitingPlugin asks outside about changes, such as a webhook or the owner of a quota. Its contract
// is that of request.WaitingAdmission; Selects says beforehand, for any change of a resource, whether it
// has anything to ask at all, so that others cost nothing.
type WaitingPlugin interface {
	Selects(k *schema.Kind, subresource string) bool
	Applies(a *Attributes) bool
	Mutate(ctx context.Context, a *Attributes) (warnings []string, err error)
	Validate(ctx context.Context, a *Attributes) (request.Verdict, error)
}

// waitingAdmission is the waiting plugins for one request.
type waitingAdmission struct {
	user          *authn.User
	registrations []*Registration
}

var _ request.WaitingAdmission = (*waitingAdmission)(nil)

// applies tells whether a change waits for one of the plugins.
func (w *waitingAdmission) applies(r *Registration, c request.Change, a *Attributes) bool {
	return r.runsFor(w.user, c.Operation()) && r.Waiting.Applies(a)
}

// Applies implements request.WaitingAdmission.
func (w *waitingAdmission) Applies(c request.Change) bool {
	a := attributesOf(w.user, c)
	return slices.ContainsFunc(w.registrations, func(r *Registration) bool { return w.applies(r, c, a) })
}

// Mutate implements request.WaitingAdmission.
func (w *waitingAdmission) Mutate(ctx context.Context, c request.Change) (warnings []string, err error) {
	a := attributesOf(w.user, c)
	for _, r := range w.registrations {
		if !w.applies(r, c, a) {
			continue
		}
		more, err := r.Waiting.Mutate(ctx, a)
		if err != nil {
			return nil, err
		}
		warnings = append(warnings, more...)
	}
	return warnings, nil
}

// Validate implements request.WaitingAdmission. What one plugin has reserved is released if a later one
// refuses, or panics.
func (w *waitingAdmission) Validate(ctx context.Context, c request.Change) (verdict request.Verdict, err error) {
	var reserved []request.Reservation
	passed := false
	defer func() {
		if !passed {
			request.Reservations(reserved...).Release()
		}
	}()
	a := attributesOf(w.user, c)
	for _, r := range w.registrations {
		if !w.applies(r, c, a) {
			continue
		}
		v, err := r.Waiting.Validate(ctx, a)
		if err != nil {
			return request.Verdict{}, err
		}
		verdict.Warnings = append(verdict.Warnings, v.Warnings...)
		reserved = append(reserved, v.Reservation)
	}
	passed = true
	verdict.Reservation = request.Reservations(reserved...)
	return verdict, nil
}
