package admissionpolicy

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/troupe-api/troupe/kinds/cel"
	"github.com/troupe-api/troupe/policy/admission/match"
)

// matches reports whether all matchConditions of the policy are true. If any condition is false,
// the policy does not match, even if other conditions fail to evaluate. Otherwise matches returns
// the evaluation errors. As in Kubernetes, conditions have their own cost budget and cannot read
// the namespace.
func (s *scope) matches(metrics *match.ConditionMetrics) (bool, error) {
	if len(s.hook.compiled.Conditions) == 0 {
		return true, nil
	}
	began := time.Now()
	failed, holds, err := s.evaluateConditions()
	metrics.Observe(match.Conditioned{Name: s.hook.name, Kind: "policy", Type: "validate", Operation: match.OperationOf(s.a).String()},
		failed, holds, false, time.Since(began)) // Kubernetes uses "validate" for mutating policies, too
	return holds, err
}

func (s *scope) evaluateConditions() (failed int, holds bool, err error) {
	conditions := s.hook.compiled.Conditions
	within := s.with(cel.NewBudget(cel.MatchConditionsBudget))
	within.noNamespace = true
	var faults []string
	for _, x := range conditions {
		v, err := within.eval(x)
		switch {
		case err == cel.ErrOutOfBudget:
			return failed + 1, false, err
		case err != nil:
			failed++
			if !slices.Contains(faults, err.Error()) {
				faults = append(faults, err.Error())
			}
		case !cel.Truth(v):
			return failed, false, nil
		}
	}
	return failed, len(faults) == 0, aggregate(faults)
}

func aggregate(faults []string) error {
	switch len(faults) {
	case 0:
		return nil
	case 1:
		return errors.New(faults[0])
	}
	return errors.New("[" + strings.Join(faults, ", ") + "]")
}
