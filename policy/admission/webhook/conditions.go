package webhook

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/troupe-api/troupe/kinds/cel"
	"github.com/troupe-api/troupe/kinds/expressions"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/admission/match"
	"github.com/troupe-api/troupe/policy/admission/review"
)

// conditions holds a webhook's compiled matchConditions. Compilation errors surface on evaluation.
type conditions []*expressions.Expr

func (p *Plugin) compile(list []tree.Tree) conditions {
	if len(list) == 0 {
		return nil
	}
	return p.compiler.Conditions(list)
}

// hold reports whether all match conditions are true. If any condition is false, the webhook is
// skipped, even if other conditions cannot be evaluated. If none is false, the failurePolicy
// decides whether an evaluation error rejects the request.
func (h *hook) hold(ctx context.Context, v *review.View, a *request.Attributes, p *Plugin) (bool, error) {
	if len(h.conditions) == 0 {
		return true, nil
	}
	began := time.Now()
	failed, holds, err := h.evaluate(ctx, v, a, p)
	p.options.Conditions.Observe(match.Conditioned{Name: h.name, Kind: "webhook", Type: string(h.sort), Operation: match.OperationOf(a).String()},
		failed, holds, !holds && err == nil, time.Since(began))
	return holds, err
}

// evaluate is like hold, but does not update metrics. failed is the number of conditions that could
// not be evaluated.
func (h *hook) evaluate(ctx context.Context, v *review.View, a *request.Attributes, p *Plugin) (failed int, holds bool, err error) {
	variables := p.variables(ctx, v, a)
	budget := cel.NewBudget(cel.MatchConditionsBudget)
	var faults []string
	for _, x := range h.conditions {
		if x.Err != nil {
			faults = append(faults, x.Err.Error())
			continue
		}
		value, err := x.Program.Eval(ctx, variables, budget)
		switch {
		case errors.Is(err, cel.ErrOutOfBudget):
			return len(faults) + 1, false, h.refuseUnevaluated(a, []string{err.Error()})
		case err != nil:
			faults = append(faults, "expression '"+x.Text+"' resulted in error: "+err.Error())
		case !cel.Truth(value):
			return len(faults), false, nil
		}
	}
	if len(faults) > 0 {
		return len(faults), false, h.refuseUnevaluated(a, faults)
	}
	return 0, true, nil
}

// refuseUnevaluated applies the failurePolicy to conditions that could not be evaluated. The error
// is not a callFailure, because the webhook was not called.
func (h *hook) refuseUnevaluated(a *request.Attributes, faults []string) error {
	if h.ignoresFaults {
		return nil
	}
	text := strings.Join(faults, ", ")
	if len(faults) > 1 {
		text = "[" + text + "]"
	}
	return meta.NewForbidden(a.Kind.GroupResource(), a.Key.Name, text)
}

// variables returns the CEL variables for a request. namespaceObject is null, as in Kubernetes.
func (p *Plugin) variables(ctx context.Context, v *review.View, a *request.Attributes) cel.Variables {
	by := review.NewAuthorizer(a.User, p.options.Authorizer)
	return cel.Variables{
		"object": v.Object, "oldObject": v.OldObject, "request": v.Request(p.options.Naming), "namespaceObject": nil,
		"authorizer":                 cel.NewAuthorization(ctx, by),
		"authorizer.requestResource": cel.NewResourceAuthorization(ctx, by, review.Access(a)),
	}
}
