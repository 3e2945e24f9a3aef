package plugins

import (
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/policy/admission"
)

// AlwaysDeny returns the plugin that rejects all changes and connections. It is deprecated and
// intended for tests.
func AlwaysDeny() admission.Registration {
	return admission.Register("AlwaysDeny", alwaysDeny{})
}

type alwaysDeny struct{ request.HandlesAll }

// Admit rejects the request during mutation, so that no validator runs.
func (alwaysDeny) Admit(a *request.Attributes) error {
	return a.Forbidden("admission control is denying all modifications")
}
