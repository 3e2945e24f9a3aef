package admissionpolicy

import (
	"encoding/json"
	"fmt"

	"github.com/troupe-api/troupe/kinds/meta"
)

// A verdict collects the results of validating policies for one request.
type verdict struct {
	*validating
	*evaluation
	scope    scope // of the current policy
	refusal  error // error of the first denial, or nil
	failures []failedValidation
}

// policy evaluates one policy. It returns an error only if the request itself is invalid, for
// example because its namespace does not exist. Other errors count as failures of the policy.
func (r *verdict) policy(h *hook) error {
	kind, err := h.criteria.Match(r.a, r.Namespaces)
	switch {
	case err != nil:
		r.misconfigured(h, nil, err)
		return nil
	case kind == nil:
		return nil
	case h.fault != nil:
		r.misconfigured(h, nil, h.fault)
		return nil
	}
	notes := annotations{}
	for _, b := range h.bindings {
		params, err := r.paramsOf(h, b)
		if err != nil {
			r.misconfigured(h, b, err)
			continue
		}
		if len(params) == 0 {
			continue
		}
		if err := r.checkNamespace(); err != nil {
			return err
		}
		for _, p := range params {
			view, err := r.view(kind)
			if err != nil {
				return err
			}
			r.scope = scope{evaluation: r.evaluation, hook: h, view: view, params: p}
			decisions, found := r.scope.validate(r.Conditions)
			if err := r.ended(); err != nil {
				return err
			}
			r.apply(h, b, decisions)
			r.note(h, b, found, notes)
		}
	}
	notes.publish(h.name, r.a)
	return nil
}

func (r *verdict) misconfigured(h *hook, b *binding, err error) {
	what := "policy"
	if b != nil {
		what = "binding"
	}
	if !h.ignores {
		r.refuse(h, b, decision{message: fmt.Sprintf("failed to configure %s: %v", what, err)})
	}
}

// apply performs the validationActions of a binding. If the failurePolicy is Ignore, a failed
// evaluation affects only the metrics.
func (r *verdict) apply(h *hook, b *binding, decisions []decision) {
	for i, d := range decisions {
		if !d.denies {
			if d.failed {
				r.Metrics.validating.observe(h.name, b.name, d, "allow")
			}
			continue
		}
		for _, action := range b.actions {
			switch action {
			case "Deny":
				r.refuse(h, b, d)
				r.Metrics.validating.observe(h.name, b.name, d, "deny")
			case "Audit":
				r.failures = append(r.failures, failedValidation{d.message, h.name, b.name, i, b.actions})
				r.Metrics.validating.observe(h.name, b.name, d, "audit")
			case "Warn":
				r.a.Warn(fmt.Sprintf("Validation failed for ValidatingAdmissionPolicy '%s' with binding '%s': %s", h.name, b.name, d.message))
				r.Metrics.validating.observe(h.name, b.name, d, "warn")
			}
		}
	}
}

// note collects audit annotations. It denies the request if an annotation failed to evaluate.
func (r *verdict) note(h *hook, b *binding, found []finding, notes annotations) {
	for _, f := range found {
		if f.err == nil {
			notes.add(f.key, f.value)
			continue
		}
		d := decision{denies: true, failed: true, message: f.err.Error(), elapsed: f.elapsed}
		r.refuse(h, b, d)
		r.Metrics.validating.observe(h.name, b.name, d, "deny")
	}
}

// maxFailures limits the number of failed validations in an audit annotation.
const maxFailures = 50

func (r *verdict) audit() {
	value, err := json.Marshal(r.failures[:min(len(r.failures), maxFailures)])
	if err == nil && len(r.failures) > 0 {
		r.a.Annotate(r.failureKey, string(value))
	}
}

type failedValidation struct {
	Message           string   `json:"message"`
	Policy            string   `json:"policy"`
	Binding           string   `json:"binding"`
	ExpressionIndex   int      `json:"expressionIndex"`
	ValidationActions []string `json:"validationActions"`
}

var reasonCodes = map[meta.Reason]int{meta.ReasonForbidden: 403, meta.ReasonUnauthorized: 401, meta.ReasonRequestTooLarge: 413, meta.ReasonInvalid: 422}

// refuse keeps only the first denial. Policies run in name order, so responses are deterministic.
func (r *verdict) refuse(h *hook, b *binding, d decision) {
	if r.refusal != nil {
		return
	}
	by := fmt.Sprintf("ValidatingAdmissionPolicy '%s'", h.name)
	if b != nil {
		by += fmt.Sprintf(" with binding '%s'", b.name)
	}
	message := by + " denied request: " + d.message
	status := meta.NewForbidden(r.a.Kind.GroupResource(), r.a.Key.Name, message)
	if status.Reason = d.reason; status.Reason == meta.ReasonUnknown {
		status.Reason = meta.ReasonInvalid
	}
	status.Code = reasonCodes[status.Reason]
	status.Details.Causes = append(status.Details.Causes, meta.Cause{Message: message})
	r.refusal = status
}
