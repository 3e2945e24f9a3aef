package admissionpolicy

import "github.com/troupe-api/troupe/kinds/request"

// mutating is the plugin for mutating policies. A mutation is its per-request state.
type mutating struct{ plugin }

// Admit collects all matching policies before it changes the object, so that no policy can affect
// whether another policy matches. It then applies them in order and reports all failures at the
// end.
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
