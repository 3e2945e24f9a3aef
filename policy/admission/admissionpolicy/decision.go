package admissionpolicy

import (
	"errors"
	"strings"
	"time"

	"github.com/troupe-api/troupe/kinds/cel"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/admission/match"
)

type decision struct {
	denies  bool
	failed  bool // the evaluation failed
	message string
	reason  meta.Reason // "" if failed
	elapsed time.Duration
}

type finding struct {
	key, value string
	err        error
	elapsed    time.Duration
}

func (h *hook) failure(err error) []decision {
	return []decision{{denies: !h.ignores, failed: true, message: err.Error()}}
}

// validate evaluates all expressions of a validating policy for one params object. If the budget is
// exhausted, the whole policy fails, because a partial result could wrongly allow or deny the
// request.
func (s *scope) validate(metrics *match.ConditionMetrics) ([]decision, []finding) {
	matches, err := s.matches(metrics)
	if err != nil {
		return s.hook.failure(err), nil
	}
	if !matches {
		return nil, nil
	}
	s.own = *cel.NewBudget(cel.RuntimeBudget)
	s.budget = &s.own
	decisions, err := s.decide()
	if err != nil {
		return s.hook.failure(err), nil
	}
	findings, err := s.annotate()
	if err != nil {
		return s.hook.failure(err), nil
	}
	return decisions, findings
}

// decide evaluates all validations, even after a failure, so that users see all failures. It
// returns nil without any allocation if all validations are true.
func (s *scope) decide() ([]decision, error) {
	var decisions []decision
	validations := s.hook.compiled.Validations
	for i, x := range validations {
		began := time.Now()
		v, err := s.eval(x)
		if err == cel.ErrOutOfBudget {
			return nil, err
		}
		if err == nil && cel.Truth(v) {
			continue
		}
		if decisions == nil {
			decisions = make([]decision, len(validations))
		}
		d := decision{denies: true, reason: s.hook.reasons[i], elapsed: time.Since(began)}
		if err != nil {
			d = decision{denies: !s.hook.ignores, failed: true, message: err.Error(), elapsed: d.elapsed}
		}
		decisions[i] = d
	}
	if decisions != nil {
		s.explain(decisions)
	}
	return decisions, nil
}

// explain sets the messages of denials. If a message expression fails, it uses the static message.
// As in Kubernetes, message expressions cannot use the authorizer.
func (s *scope) explain(decisions []decision) {
	within := s.with(s.budget)
	within.noAuthorizer = true
	texts := make([]string, len(decisions))
	for i, x := range s.hook.compiled.Messages {
		if x == nil {
			continue
		}
		v, err := within.eval(x)
		if err == cel.ErrOutOfBudget {
			failMessages(s.hook, decisions, err)
			return
		}
		if err == nil {
			texts[i] = evaluatedMessage(v)
		}
	}
	for i := range decisions {
		if d := &decisions[i]; d.denies && !d.failed {
			if d.message = texts[i]; d.message == "" {
				d.message = s.hook.messages[i]
			}
		}
	}
}

func failMessages(h *hook, decisions []decision, err error) {
	for i := range decisions {
		if d := &decisions[i]; !d.failed {
			*d = decision{denies: !h.ignores, failed: true, message: "failed messageExpression: " + err.Error(), elapsed: d.elapsed}
		}
	}
}

// annotate evaluates the audit annotations. It skips values that are null or white space.
func (s *scope) annotate() ([]finding, error) {
	annotations := s.hook.compiled.Annotations
	if len(annotations) == 0 {
		return nil, nil
	}
	within := s.with(cel.NewBudget(cel.RuntimeBudget))
	var found []finding
	for _, x := range annotations {
		began := time.Now()
		v, err := within.eval(x)
		switch text, isText := "", false; {
		case errors.Is(err, cel.ErrOutOfBudget):
			return nil, err
		case err != nil && !s.hook.ignores:
			found = append(found, finding{key: x.Name, err: err, elapsed: time.Since(began)})
		case err == nil:
			if text, isText = cel.Text(v); isText && strings.TrimSpace(text) != "" {
				found = append(found, finding{key: x.Name, value: strings.TrimSpace(text)})
			}
		}
	}
	return found, nil
}
