package plugins

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/policy/admission"
)

// DenyServiceExternalIPs returns the plugin that rejects new external IPs of Services. Otherwise a
// Service could intercept traffic for any address. Existing addresses may stay.
func DenyServiceExternalIPs() admission.Registration {
	return admission.Register("DenyServiceExternalIPs", denyExternalIPs{})
}

type denyExternalIPs struct{ request.HandlesAll }

func (denyExternalIPs) Validate(a *request.Attributes) error {
	had := a.Old.Object("spec").Strings("externalIPs")
	for _, ip := range a.New.Object("spec").Strings("externalIPs") {
		if !slices.Contains(had, ip) {
			return a.Forbidden("Use of external IPs is denied by admission control")
		}
	}
	return nil
}
