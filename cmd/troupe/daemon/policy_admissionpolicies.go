package daemon

import (
	"slices"

	"github.com/troupe-api/troupe/cmd/troupe/internal/features"
	"github.com/troupe-api/troupe/policy/admission"
	"github.com/troupe-api/troupe/policy/admission/admissionpolicy"
	"github.com/troupe-api/troupe/policy/admission/match"
)

// policyPlugins returns the plugins that evaluate admission policies. Only the mode Webhook makes
// the authorizer block; policies that check authorization then run outside of the activation. The
// feature gate controls mutating policies.
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
