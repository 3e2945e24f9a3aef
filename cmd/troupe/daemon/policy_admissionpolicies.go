package daemon

import (
	"slices"

	"github.com/troupe-api/troupe/cmd/troupe/internal/features"
	"github.com/troupe-api/troupe/policy/admission"
	"github.com/troupe-api/troupe/policy/admission/admissionpolicy"
	"github.com/troupe-api/troupe/policy/admission/match"
)

// policyPlugins returns the plugins that evaluate admission policies. With the Webhook mode the
// authorizer may block, so policies that check authorization run outside the object's owner. A
// feature gate enables mutating policies.
func (p *policies) policyPlugins(namespaces *match.Namespaces) []admission.Registration {
	p.params = admissionpolicy.NewParams(p.storage.kinds)
	o := admissionpolicy.Options{
		Evaluator: admissionpolicy.Evaluator{Naming: p.naming, Namespaces: namespaces, Authorizer: p.authorizer},
		Compiler:  p.storage.kinds.Expressions(), Params: p.params, Metrics: p.policyMetrics, Conditions: p.conditionMetrics,
		AuthorizerWaits: p.config.Authorization.has(modeWebhook),
	}
	registrations := admissionpolicy.Registrations(o)
	if p.features.Enabled(features.MutatingAdmissionPolicy) {
		return registrations
	}
	return slices.DeleteFunc(registrations, func(r admission.Registration) bool { return r.Name == features.MutatingAdmissionPolicy })
}
