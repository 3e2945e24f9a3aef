package plugins

import (
	"context"

	"github.com/troupe-api/troupe/policy/admission"
)

// waitingValidator asks about valid changes, and changes nothing. It is for plugins that ask an authorizer,
// which may be remote.
type waitingValidator func(a *admission.Attributes) error

// Mutate implements admission.WaitingCall.
func (waitingValidator) Mutate(context.Context, *admission.Attributes) error { return nil }

// Validate implements admission.WaitingCall.
func (ask waitingValidator) Validate(_ context.Context, a *admission.Attributes) error { return ask(a) }
