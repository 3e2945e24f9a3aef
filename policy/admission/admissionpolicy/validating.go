package admissionpolicy

import (
	"context"
	"slices"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/policy/admission"
)

// newValidating is the plugin of ValidatingAdmissionPolicies.
func newValidating(o *Options) *validating {
	v := &validating{Options: o, failureKey: o.Naming.Group("validation.policy.admission") + "/validation_failure"}
	v.source = newSource("validatingadmissionpolicies", "validatingadmissionpolicybindings", o.Compiler.Validating, o.Params, o.mayWait)
	return v
}

// A validating enforces the policies that refuse requests. It holds no state of requests; each gets a
// verdict.
type validating struct {
	*Options
	source     *Source
	failureKey string // of the annotation of a failed validation
}

// Selects implements admission.Selector.
func (v *validating) Selects(k *schema.Kind, subresource string) bool {
	return len(v.source.current.Load().inTurn.Select(k, subresource)) > 0
}

var _ admission.Validator = (*validating)(nil)

// Validate implements admission.Validator.
func (v *validating) Validate(a *admission.Attributes) error {
	return v.validate(a.Context, a, v.source.current.Load().inTurn.Select(a.Kind, a.Subresource))
}

// waitingValidating is a validating for the policies that may have to wait.
type waitingValidating struct{ *validating }

// Selects implements admission.WaitingPlugin.
func (v waitingValidating) Selects(k *schema.Kind, subresource string) bool {
	return len(v.source.current.Load().waiting.Select(k, subresource)) > 0
}

// Applies implements admission.WaitingPlugin.
func (v waitingValidating) Applies(a *admission.Attributes) bool {
	return slices.ContainsFunc(v.source.current.Load().waiting.Select(a.Kind, a.Subresource), func(h *hook) bool { return h.criteria.MayMatch(a) })
}

// Begin implements admission.WaitingPlugin.
func (v waitingValidating) Begin() admission.WaitingCall { return v }

// Mutate implements admission.WaitingCall.
func (v waitingValidating) Mutate(context.Context, *admission.Attributes) error { return nil }

// Validate implements admission.WaitingCall.
func (v waitingValidating) Validate(ctx context.Context, a *admission.Attributes) error {
	return v.validate(ctx, a, v.source.current.Load().waiting.Select(a.Kind, a.Subresource))
}

// validate lets policies look at a request, all of them, and refuses it if one does. Warnings and audit
// annotations of later policies are wanted even if an earlier one refuses.
func (v *validating) validate(ctx context.Context, a *admission.Attributes, hooks []*hook) error {
	if len(hooks) == 0 {
		return nil
	}
	r := &verdict{validating: v, evaluation: v.newEvaluation(ctx, a)}
	for _, h := range hooks {
		if err := r.policy(h); err != nil {
			return err
		}
	}
	return r.refusal
}
