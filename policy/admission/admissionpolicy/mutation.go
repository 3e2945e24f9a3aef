package admissionpolicy

import (
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/troupe-api/troupe/kinds/cel"
	"github.com/troupe-api/troupe/kinds/expressions"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A mutation applies the mutating policies to one request, in one round of admission.
type mutation struct {
	*mutating
	*evaluation
	invocations []invocation
	faults      []policyFault
}

type invocation struct {
	hook    *hook
	binding *binding
	kind    *schema.Kind
	params  tree.Tree
}

type policyFault struct {
	text   string
	reason meta.Reason // "" means Forbidden
}

// gather collects a policy's invocations if the policy matches the unmodified object.
func (r *mutation) gather(h *hook) {
	kind, err := h.criteria.Match(r.a, r.Namespaces)
	if err == nil && kind == nil {
		return
	}
	if err == nil {
		err = h.fault
	}
	if err != nil {
		r.fault(h, nil, fmt.Errorf("failed to configure policy: %w", err), meta.ReasonUnknown)
		return
	}
	for _, b := range h.bindings {
		params, err := r.paramsOf(h, b)
		if err != nil {
			r.fault(h, b, fmt.Errorf("failed to configure binding: %w", err), meta.ReasonUnknown)
		}
		for _, p := range params {
			r.invocations = append(r.invocations, invocation{h, b, kind, p})
		}
	}
}

func (r *mutation) fault(h *hook, b *binding, err error, reason meta.Reason) {
	if h.ignores {
		return
	}
	by := fmt.Sprintf("policy %q", h.name)
	if b != nil {
		by = fmt.Sprintf("policy '%s' with binding '%s'", h.name, b.name)
	}
	r.faults = append(r.faults, policyFault{by + " denied request: " + err.Error(), reason})
}

// mutableView returns the view without values that the server sets after admission, such as UID,
// timestamps and generated name. Mutations must neither see nor preserve these values.
func (r *mutation) mutableView(k *schema.Kind) (*kindView, error) {
	known := len(r.views)
	v, err := r.view(k)
	if err == nil && len(r.views) > known {
		v.BeforeCreation()
	}
	return v, err
}

// invoke runs one invocation and records failures of the policy. It returns an error only if the
// request must end. matchConditions see the object after earlier mutations. A reinvocation runs
// only policies with reinvocationPolicy IfNeeded.
func (r *mutation) invoke(i *invocation) error {
	view, err := r.mutableView(i.kind)
	if err != nil {
		return err
	}
	s := &scope{evaluation: r.evaluation, hook: i.hook, view: view, params: i.params}
	matches, err := s.matches(r.Conditions)
	if err := r.ended(); err != nil {
		return err
	}
	if err != nil {
		r.fault(i.hook, i.binding, err, meta.ReasonInvalid)
	}
	if !matches || r.a.Reinvocation && !i.hook.reinvocation {
		return nil
	}
	for at, x := range i.hook.compiled.Mutations {
		if err := r.change(i, x, i.hook.patchTypes[at]); err != nil {
			return err
		}
	}
	return nil
}

// change runs one mutation with its own cost budget. It does not store an unchanged object, because
// storing it would cause a reinvocation.
func (r *mutation) change(i *invocation, x *expressions.Expr, patchType string) error {
	view, err := r.mutableView(i.kind)
	if err != nil {
		return err
	}
	s := &scope{evaluation: r.evaluation, hook: i.hook, view: view, params: i.params, budget: cel.NewBudget(cel.RuntimeBudget)}
	if s.view.Object == nil {
		return nil
	}
	began := time.Now()
	patched, err := s.patch(x, patchType)
	if err := r.ended(); err != nil {
		return err
	}
	d := decision{elapsed: time.Since(began)}
	if err != nil {
		d.denies, d.failed, d.message = true, true, err.Error()
	}
	r.Metrics.mutating.observe(i.hook.name, i.binding.name, d, "")
	switch status := (*meta.Status)(nil); {
	case errors.As(err, &status):
		return status
	case err != nil:
		r.fault(i.hook, i.binding, err, meta.ReasonInvalid)
		return nil
	case tree.SameRef(patched, s.view.Object) || tree.StrictEqual(patched, s.view.Object):
		return nil
	}
	return r.rewrite(s.view, patched)
}

// rewrite converts the mutated object from the matched version to the storage version and stores it
// in the request. A subresource body with its own kind is not converted.
func (r *mutation) rewrite(v *kindView, patched tree.Tree) (err error) {
	sub := r.a.Kind.Subresource(r.a.Subresource)
	hasBody, held := sub != nil && sub.BodyKind != nil, r.a.New
	if hasBody && r.a.Body != nil {
		held = r.a.Body
	}
	patched = maps.Clone(patched) // it may share values with the object that the policy sees
	patched["metadata"] = maps.Clone(patched.Object("metadata"))
	v.Restore(patched, held.Object("metadata"))
	if !hasBody {
		if v.kind != r.a.Kind || v.kind != v.kind.Stored {
			patched = tree.Clone(patched).(tree.Tree)
		}
		if patched, err = v.Stored(patched); err != nil {
			return err
		}
		for _, name := range []string{"apiVersion", "kind"} {
			patched.CopyField(r.a.New, name)
		}
	}
	r.forget()
	return r.a.Rewrite(patched)
}

// refusal returns the error for failed policies, or nil. The message and reason come from the first
// failure. Each failure becomes a cause.
func (r *mutation) refusal() error {
	if len(r.faults) == 0 {
		return nil
	}
	status := r.a.Forbidden("admission request denied by policy").(*meta.Status)
	status.Message = r.faults[0].text
	if reason := r.faults[0].reason; reason != meta.ReasonUnknown {
		status.Reason = reason
	}
	for _, f := range r.faults {
		status.Details.Causes = append(status.Details.Causes, meta.Cause{Message: f.text})
	}
	return status
}
