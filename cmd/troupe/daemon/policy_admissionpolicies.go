package daemon

import (
	"slices"

	"github.com/troupe-api/troupe/cmd/troupe/internal/features"
	"github.com/troupe-api/troupe/policy/admission"
	"github.com/troupe-api/troupe/policy/admission/admissionpolicy"
	"github.com/troupe-api/troupe/policy/admission/match"
)

// policyPlugins returns the plugins that evaluate admission policies. In the Webhook authorization
// mode, the authorizer may block. Policies that check authorization then run outside the actor that
// owns the object. The mutating policies require a feature gate.
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
