package admissionpolicy

import (
	"fmt"

	"github.com/troupe-api/troupe/kinds/cel"
	"github.com/troupe-api/troupe/kinds/expressions"
)

func (s *scope) lazy() any {
	if s.variables == nil && s.hook.compiled.VariablesType != nil {
		s.variables = cel.NewLazy(s.hook.compiled.VariablesType, s.variable)
	}
	return s.variables
}

// variable evaluates one variable. Its cost is charged to the first expression that uses it. Cycles
// are impossible, because the compiler lets a variable use only variables declared before it.
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

// eval evaluates one expression. After cel.ErrOutOfBudget, the caller must stop. Other error
// messages match those of Kubernetes.
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

// with returns a scope with another budget and its own variables. Both scopes share cached values
// of the evaluation, such as authorizer decisions.
func (s *scope) with(budget *cel.Budget) *scope {
	return &scope{evaluation: s.evaluation, hook: s.hook, view: s.view, params: s.params, budget: budget}
}
