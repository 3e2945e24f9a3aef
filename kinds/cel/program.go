package cel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/interpreter"

	"github.com/troupe-api/troupe/kinds/meta"
)

// A Value is a CEL value.
type Value = ref.Val

// An Activation resolves the variables of one evaluation to Values or tree values (tree.Tree,
// []any, string, int64, float64, bool, nil). Lookup is called on first use, so it may compute
// expensive values.
type Activation interface {
	// Lookup returns the value of a variable, or false if it does not exist.
	Lookup(name string) (any, bool)
}

// Variables is an Activation whose values are already known.
type Variables map[string]any

func (v Variables) Lookup(name string) (any, bool) {
	value, found := v[name]
	return value, found
}

// A CompileError reports an invalid expression. Admission and CRDs embed Issues, the compiler's
// report, in different messages.
type CompileError struct{ Issues string }

func (e *CompileError) Error() string { return "compilation failed: " + e.Issues }

// A Checked is a parsed and type-checked expression. It is much cheaper than a Program, and enough
// for cost estimates.
type Checked struct {
	env *Env
	ast *cel.Ast
}

// A Program is an executable expression, safe for concurrent use.
type Program struct {
	naming  *meta.Naming
	program cel.Program
	text    string
	result  *cel.Type
	// uncounted evaluates without counting costs or checking the context. It is used if form bounds
	// the cost. Both are nil if there is no bound.
	uncounted cel.Program
	form      *form
}

// Check parses an expression and checks its types. The error is a *CompileError.
func (e *Env) Check(expression string) (*Checked, error) {
	ast, issues := e.env.Compile(expression)
	if issues != nil {
		return nil, &CompileError{translate(e.naming, issues.String())}
	}
	return &Checked{e, ast}, nil
}

// Compile compiles an expression. If wanted is not empty, the result must have one of its types,
// and a dynamic result is accepted only if wanted contains Dyn. An error in the expression itself
// is a *CompileError.
func (e *Env) Compile(expression string, wanted ...*Type) (*Program, error) {
	checked, err := e.Check(expression)
	if err != nil {
		return nil, err
	}
	if len(wanted) > 0 && !slices.ContainsFunc(wanted, checked.Returns) {
		names := make([]string, len(wanted))
		for i, t := range wanted {
			names[i] = t.cel.String()
		}
		want := names[0]
		if len(names) > 1 {
			want = fmt.Sprintf("one of %v", names)
		}
		return nil, errors.New(translate(e.naming, fmt.Sprintf("must evaluate to %s but got %s", want, checked.ast.OutputType())))
	}
	return checked.Program()
}

// Returns reports whether the result type is exactly t. A dynamic expression has only the type Dyn.
func (c *Checked) Returns(t *Type) bool { return c.ast.OutputType().IsExactType(t.cel) }

// Result returns the result type of the expression.
func (c *Checked) Result() *Type { return typeOf(c.ast.OutputType()) }

// Uses reports whether the expression refers to a variable, such as oldSelf or authorizer.
func (c *Checked) Uses(variable string) bool {
	for _, reference := range c.ast.NativeRep().ReferenceMap() {
		if reference.Name == variable {
			return true
		}
	}
	return false
}

// Program compiles the expression. It also evaluates constant subexpressions and compiles constant
// regular expressions, so that their errors are reported here rather than by each evaluation.
func (c *Checked) Program() (*Program, error) {
	env, err := c.runtimeEnv()
	if err != nil {
		return nil, err
	}
	p := &Program{naming: c.env.naming, text: c.ast.Source().Content(), result: c.ast.OutputType()}
	if c.env.sized {
		if form, ok := c.formOf(); ok {
			p.form = form
			if p.uncounted, err = c.plan(env, cel.EvalOptions(cel.OptOptimize)); err != nil {
				return p, err
			}
		}
	}
	conditions, restore := wrapLoopSteps(c.ast.NativeRep())
	defer restore()
	p.program, err = c.plan(env, cel.EvalOptions(cel.OptOptimize, cel.OptTrackCost), cel.CostLimit(PerCallLimit), cel.CostTracking(estimator{}),
		cel.CostTrackerOptions(interpreter.PresenceTestHasCost(false)), cel.InterruptCheckFrequency(checkFrequency), cel.CustomDecoratorV2(cleanLoops(conditions)))
	return p, err
}

func (c *Checked) plan(env *cel.Env, options ...cel.ProgramOption) (cel.Program, error) {
	p, err := env.Program(c.ast, append(options, cel.OptimizeRegex(regexOptimizations()...), cel.CustomDecoratorV2(guardMatches))...)
	if err != nil {
		return nil, fmt.Errorf("program instantiation failed: %s", translate(c.env.naming, err.Error()))
	}
	return p, nil
}

// ErrOutOfBudget reports that several evaluations together exceeded their cost limit, with
// kube-apiserver's message.
var ErrOutOfBudget = errors.New("validation failed due to running out of cost budget, no further validation rules will be run")

// costLimitExceeded is the prefix of the error for exceeding PerCallLimit.
const costLimitExceeded = "operation cancelled: actual cost limit exceeded"

// IsCostLimit reports whether an evaluation exceeded its own cost limit. It compares messages,
// because the library has no error value for it.
func IsCostLimit(err error) bool {
	return err != nil && strings.HasPrefix(err.Error(), costLimitExceeded)
}

// IsNoSuchOverload reports whether an evaluation failed because a function does not accept the type
// of a dynamic argument.
func IsNoSuchOverload(err error) bool {
	return err != nil && strings.HasPrefix(err.Error(), "no such overload")
}

// A Budget tracks the remaining cost units of a limit shared by several evaluations, such as all
// rules of an object. A Budget is not safe for concurrent use.
//
// An evaluation whose cost is not counted is charged an upper bound that far exceeds its actual
// cost. The bound is charged to a separate allowance of 5% of the limit.
type Budget struct{ remaining, allowance uint64 }

// NewBudget returns a budget with the given cost units.
func NewBudget(units uint64) *Budget { return &Budget{units, units / 20} }

func (b *Budget) allow(units uint64) bool {
	if units > b.allowance {
		return false
	}
	b.allowance -= units
	return true
}

// Remaining returns the remaining cost units.
func (b *Budget) Remaining() uint64 { return b.remaining }

func (b *Budget) spend(units uint64) bool {
	if units > b.remaining {
		b.remaining = 0
		return false
	}
	b.remaining -= units
	return true
}

// Expression returns the source of the program.
func (p *Program) Expression() string { return p.text }

// Type returns the type of the program's result.
func (p *Program) Type() *Type { return typeOf(p.result) }

// Eval evaluates the program and charges its cost to the budget. If the cost is unknown, for
// example after an interruption, it charges PerCallLimit. Eval returns soon after ctx is done. An
// exhausted budget results in ErrOutOfBudget. Other error messages match kube-apiserver's.
func (p *Program) Eval(ctx context.Context, variables Activation, b *Budget) (Value, error) {
	if p.form != nil {
		if cost, known := p.form.bound(variables); known && b.allow(cost) {
			out, _, err := p.uncounted.Eval(activation{variables})
			return p.outcome(out, err)
		}
	}
	out, details, err := p.program.ContextEval(ctx, activation{variables})
	if errors.Is(err, ErrOutOfBudget) { // of a lazy variable
		return nil, ErrOutOfBudget
	}
	cost := uint64(PerCallLimit)
	if known := details.ActualCost(); known != nil {
		cost = *known
	}
	if !b.spend(cost) {
		return nil, ErrOutOfBudget
	}
	return p.outcome(out, err)
}

func (p *Program) outcome(out Value, err error) (Value, error) {
	if err != nil {
		return nil, evalError{translate(p.naming, err.Error()), err}
	}
	return out, nil
}

// An evalError is an evaluation error with the type names of the naming profile. It wraps the
// original error, which may be a context error.
type evalError struct {
	text string
	err  error
}

func (e evalError) Error() string { return e.text }
func (e evalError) Unwrap() error { return e.err }

type activation struct{ Activation }

func (a activation) ResolveName(name string) (any, bool) { return a.Lookup(name) }

// Parent returns nil, because this activation contains all variables.
func (a activation) Parent() interpreter.Activation { return nil }
