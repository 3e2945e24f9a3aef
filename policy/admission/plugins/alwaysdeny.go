package plugins

import (
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/policy/admission"
)

// AlwaysDeny refuses all changes and connections. It is deprecated, and for tests.
func AlwaysDeny() admission.Registration {
	return admission.Registration{
		Name: "AlwaysDeny", Resources: []string{"*"},
		Plugin: request.Plugin{Mutator: alwaysDeny{}},
	}
}

// A refusal of everything shows whether admission runs at all, which is what tests use it for.
type alwaysDeny struct{ request.HandlesAll }

// Admit implements request.Mutator. It refuses already here, so no validator runs.
func (alwaysDeny) Admit(a *request.Attributes) error {
	return a.Forbidden("admission control is denying all modifications")
}
