package admissionpolicy

import "github.com/troupe-api/troupe/kinds/request"

// A mutating enforces policies that change objects. It holds no state of requests; each gets a mutation.
type mutating struct{ plugin }

// Admit implements request.Mutator. The policies change the object one after the other. What each has to do is
// gathered before anything is changed, so a policy does not decide which others apply. Faults are
// reported together at the end.
func (m *mutating) Admit(a *request.Attributes) error {
	r := &mutation{mutating: m, evaluation: m.newEvaluation(a)}
	for _, h := range m.hooks(a.Kind, a.Subresource) {
		r.gather(h)
	}
	if len(r.invocations) > 0 {
		if err := r.checkNamespace(); err != nil {
			return err
		}
	}
	for i := range r.invocations {
		if err := r.invoke(&r.invocations[i]); err != nil {
			return err
		}
	}
	return r.refusal()
}
