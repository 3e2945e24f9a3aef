package admissionpolicy

import (
	"fmt"

	"github.com/troupe-api/troupe/kinds/cel"
	"github.com/troupe-api/troupe/kinds/expressions"
)

// lazy are the variables of the policy. Each is evaluated when it is first used.
func (s *scope) lazy() any {
	if s.variables == nil && s.hook.compiled.VariablesType != nil {
		s.variables = cel.NewLazy(s.hook.compiled.VariablesType, s.variable)
	}
	return s.variables
}

// variable evaluates one variable. Its cost is taken from the budget of the expression that first uses it.
// A variable may use those that are declared before it, which the compiler has checked.
func (s *scope) variable(name string) cel.Value {
	x := s.hook.compiled.Variable(name)
	if x.Program == nil {
		return cel.Fault(fmt.Errorf("composited variable %q fails to compile: %w", name, x.Err))
	}
	v, err := x.Program.Eval(s.ctx, s, s.budget)
	if err != nil {
		return cel.Fault(fmt.Errorf("composited variable %q fails to evaluate: %w", name, err))
	}
	return v
}

// eval evaluates one expression. The error is cel.ErrOutOfBudget, after which nothing more is evaluated, or in the words
// that users know.
func (s *scope) eval(x *expressions.Expr) (cel.Value, error) {
	if x.Program == nil {
		return nil, fmt.Errorf("compilation error: %v", x.Err)
	}
	v, err := x.Program.Eval(s.ctx, s, s.budget)
	if err != nil && err != cel.ErrOutOfBudget {
		return nil, fmt.Errorf("expression '%v' resulted in error: %v", x.Text, err)
	}
	return v, err
}

// with are the same variables for other expressions of the policy, which evaluate their own. Values of the
// evaluation, such as the authorizer's answers, stay shared.
func (s *scope) with(budget *cel.Budget) *scope {
	return &scope{evaluation: s.evaluation, hook: s.hook, view: s.view, params: s.params, budget: budget}
}
