package daemon

import (
	"slices"

	"github.com/troupe-api/troupe/cmd/troupe/internal/features"
	"github.com/troupe-api/troupe/policy/admission"
	"github.com/troupe-api/troupe/policy/admission/admissionpolicy"
	"github.com/troupe-api/troupe/policy/admission/match"
	"github.com/troupe-api/troupe/policy/authz"
)

// policyPlugins are the plugins that evaluate admission policies. What they count is written with the
// daemon's metrics; the objects that policies take parameters from are followed as long as one does. Only
// the mode Webhook makes an authorizer wait; with it, policies that ask for authorization run outside of
// the owner's turn. Without its gate, policies that change objects are not looked at.
func (d *Daemon) policyPlugins(authorizer authz.Authorizer, namespaces *match.Namespaces) []admission.Registration {
	d.policyMetrics, d.policyParams = &admissionpolicy.Metrics{}, admissionpolicy.NewParams(d.kinds)
	o := admissionpolicy.Options{
		Evaluator: admissionpolicy.Evaluator{Naming: d.naming, Namespaces: namespaces, Authorizer: authorizer},
		Compiler:  d.kinds.Expressions(), Params: d.policyParams, Metrics: d.policyMetrics, Conditions: &d.conditionMetrics,
		AuthorizerWaits: d.config.Authorization.has(modeWebhook),
	}
	registrations := admissionpolicy.Registrations(o)
	if d.features.Enabled(features.MutatingAdmissionPolicy) {
		return registrations
	}
	return slices.DeleteFunc(registrations, func(r admission.Registration) bool { return r.Name == features.MutatingAdmissionPolicy })
}
