package admissionpolicy

import (
	"context"
	"slices"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/policy/admission"
)

// newMutating is the plugin of MutatingAdmissionPolicies.
func newMutating(o *Options) *mutating {
	return &mutating{o, newSource("mutatingadmissionpolicies", "mutatingadmissionpolicybindings", o.Compiler.Mutating, o.Params, o.mayWait)}
}

// A mutating enforces the policies that change objects. It holds no state of requests; each gets a
// mutation.
type mutating struct {
	*Options
	source *Source
}

// Selects implements admission.Selector.
func (m *mutating) Selects(k *schema.Kind, subresource string) bool {
	return len(m.source.current.Load().inTurn.Select(k, subresource)) > 0
}

// Admit implements admission.Admitter.
func (m *mutating) Admit(a *admission.Attributes) error {
	return m.mutate(a.Context, a, m.source.current.Load().inTurn.Select(a.Kind, a.Subresource))
}

// waitingMutating is a mutating for the policies that may have to wait.
type waitingMutating struct{ *mutating }

// Selects implements admission.WaitingPlugin.
func (m waitingMutating) Selects(k *schema.Kind, subresource string) bool {
	return len(m.source.current.Load().waiting.Select(k, subresource)) > 0
}

// Applies implements admission.WaitingPlugin. It only says whether a policy may match, without evaluating:
// a request that needs no waiting must not pay for it.
func (m waitingMutating) Applies(a *admission.Attributes) bool {
	return slices.ContainsFunc(m.source.current.Load().waiting.Select(a.Kind, a.Subresource), func(h *hook) bool { return h.criteria.MayMatch(a) })
}

// Begin implements admission.WaitingPlugin.
func (m waitingMutating) Begin() admission.WaitingCall { return m }

// Mutate implements admission.WaitingCall.
func (m waitingMutating) Mutate(ctx context.Context, a *admission.Attributes) error {
	return m.mutate(ctx, a, m.source.current.Load().waiting.Select(a.Kind, a.Subresource))
}

// Validate implements admission.WaitingCall.
func (m waitingMutating) Validate(context.Context, *admission.Attributes) error { return nil }

// mutate lets policies change the object of a request, one after the other. All that is to be done is
// gathered before anything is changed, so a policy does not decide which others apply. Faults are told
// together at the end.
func (m *mutating) mutate(ctx context.Context, a *admission.Attributes, hooks []*hook) error {
	if len(hooks) == 0 {
		return nil
	}
	r := &mutation{mutating: m, evaluation: m.newEvaluation(ctx, a)}
	for _, h := range hooks {
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
