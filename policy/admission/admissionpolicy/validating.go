package admissionpolicy

import "github.com/troupe-api/troupe/kinds/request"

func newValidating(o *Options, s *Source, stage request.Stage) *validating {
	return &validating{plugin{o, s, stage}, o.Naming.Group("validation.policy.admission") + "/validation_failure"}
}

// A validating enforces policies that refuse requests. It holds no state of requests; each gets a verdict.
type validating struct {
	plugin
	failureKey string // of the annotation of a failed validation
}

// Validate implements request.Validator. It evaluates all policies even if one refuses the request, for their
// warnings and audit annotations.
func (v *validating) Validate(a *request.Attributes) error {
	r := &verdict{validating: v, evaluation: v.newEvaluation(a)}
	for _, h := range v.hooks(a.Kind, a.Subresource) {
		if err := r.policy(h); err != nil {
			return err
		}
	}
	return r.refusal
}
