package plugins

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/policy/admission"
)

// DenyServiceExternalIPs lets Services have only those external addresses that they have already. Whoever
// may write a Service could otherwise draw traffic for any address to its Pods. Addresses that a Service
// has from before may stay, so that it can still be updated.
func DenyServiceExternalIPs() admission.Registration {
	return admission.Registration{
		Name: "DenyServiceExternalIPs", Resources: []string{"/services"},
		Plugin: request.Plugin{Operations: request.OnCreate | request.OnUpdate, SkipsNoOps: true, Validator: denyExternalIPs{}},
	}
}

// denyExternalIPs has no state: it compares the old Service with the new one.
type denyExternalIPs struct{ request.HandlesAll }

// Validate implements request.Validator.
func (denyExternalIPs) Validate(a *request.Attributes) error {
	had := a.Old.Object("spec").Strings("externalIPs")
	for _, ip := range a.New.Object("spec").Strings("externalIPs") {
		if !slices.Contains(had, ip) {
			return a.Forbidden("Use of external IPs is denied by admission control")
		}
	}
	return nil
}
