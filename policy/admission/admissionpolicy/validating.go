package admissionpolicy

import "github.com/troupe-api/troupe/kinds/request"

// validating is the plugin for validating policies. A verdict is its per-request state.
type validating struct {
	plugin
	failureKey string // audit annotation key of failed validations
}

// Validate evaluates all policies even after a denial, to collect warnings and audit annotations.
func (v *validating) Validate(a *request.Attributes) error {
	r := &verdict{validating: v, evaluation: v.newEvaluation(a)}
	for _, h := range v.hooks(a.Kind, a.Subresource) {
		if err := r.policy(h); err != nil {
			return err
		}
	}
	r.audit()
	return r.refusal
}
