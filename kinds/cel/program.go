package cel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"

	"github.com/troupe-api/troupe/kinds/meta"
)

// A Value is a value of an expression.
type Value = ref.Val

// An Activation resolves the variables of one evaluation. A value is one of a tree (tree.Tree, []any,
// string, int64, float64, bool, nil), or a Value. Lookup is called when a variable is first needed, so a
// costly value can be made in it.
type Activation interface {
	// Lookup is the value of a variable; false if there is none.
	Lookup(name string) (any, bool)
}

// Variables are an Activation that knows all its values.
type Variables map[string]any

// Lookup implements Activation.
func (v Variables) Lookup(name string) (any, bool) {
	value, found := v[name]
	return value, found
}

// A CompileError tells what is wrong with an expression. Issues is the compiler's text of it. It is told
// apart from other errors because admission and definitions word it differently.
type CompileError struct{ Issues string }

func (e *CompileError) Error() string { return "compilation failed: " + e.Issues }

// A Checked is an expression that has been parsed, and whose types fit. It is cheap compared with a Program
// and is all that estimates need; a definition is checked in full before any of its programs is made.
type Checked struct {
	env *Env
	ast *cel.Ast
}

// A Program is an expression that can be evaluated, by many at once.
type Program struct {
	naming  *meta.Naming
	program cel.Program
	text    string
	result  *cel.Type
	// uncounted is the program for evaluations that form bounds, which end so soon that they do not look for the end of
	// their context; both are nil if it bounds none.
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

// Compile makes the program of an expression whose result must be of one of some types; without any, all
// will do. The error is a *CompileError, or says that the type is another. The dynamic type is accepted
// only where it is wanted explicitly.
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

// Returns tells whether the result of an expression is of a type, to the letter: an expression of a dynamic type
// returns only that.
func (c *Checked) Returns(t *Type) bool { return c.ast.OutputType().IsExactType(t.cel) }

// Result is the type of results.
func (c *Checked) Result() *Type { return typeOf(c.ast.OutputType()) }

// Uses tells whether an expression refers to a variable. A rule that uses oldSelf runs on updates only, and
// a policy that uses authorizer needs one.
func (c *Checked) Uses(variable string) bool {
	for _, reference := range c.ast.NativeRep().ReferenceMap() {
		if reference.Name == variable {
			return true
		}
	}
	return false
}

// Program makes the program. Constant parts are evaluated and constant patterns compiled now, so their
// faults appear at compile time.
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
		cel.CostTrackerOptions(interpreter.PresenceTestHasCost(false)), cel.InterruptCheckFrequency(checkFrequency), cel.CustomDecorator(cleanLoops(conditions)))
	return p, err
}

// plan makes the library's program.
func (c *Checked) plan(env *cel.Env, options ...cel.ProgramOption) (cel.Program, error) {
	p, err := env.Program(c.ast, append(options, cel.OptimizeRegex(regexOptimizations()...), cel.CustomDecorator(guardMatches))...)
	if err != nil {
		return nil, fmt.Errorf("program instantiation failed: %s", translate(c.env.naming, err.Error()))
	}
	return p, nil
}

// ErrOutOfBudget says that expressions have exceeded the cost limit of all of them together. Its text is
// that of the public API, by which clients know it.
var ErrOutOfBudget = errors.New("validation failed due to running out of cost budget, no further validation rules will be run")

// costLimitExceeded begins the text of the fault of a single evaluation that cost more than PerCallLimit.
const costLimitExceeded = "operation cancelled: actual cost limit exceeded"

// IsCostLimit tells whether an evaluation failed because it alone cost too much. The library gives no error
// value for it, only the text.
func IsCostLimit(err error) bool {
	return err != nil && strings.HasPrefix(err.Error(), costLimitExceeded)
}

// IsNoSuchOverload tells whether an evaluation failed because a value of a dynamic type was not what a
// function takes.
func IsNoSuchOverload(err error) bool {
	return err != nil && strings.HasPrefix(err.Error(), "no such overload")
}

// A Budget is what is left of a cost limit for several evaluations. It belongs to one goroutine. Rules of
// one object share one: many cheap rules must not take longer together than a few costly ones may.
//
// A twentieth of it, the allowance, is for what is not counted: evaluations of which it is known beforehand that they cost
// less. The bounds are far above what the evaluations take.
type Budget struct{ remaining, allowance uint64 }

// NewBudget is a budget of so many units.
func NewBudget(units uint64) *Budget { return &Budget{units, units / 20} }

// allow takes units from the allowance; false if there are not as many.
func (b *Budget) allow(units uint64) bool {
	if units > b.allowance {
		return false
	}
	b.allowance -= units
	return true
}

// Remaining are the units that are left.
func (b *Budget) Remaining() uint64 { return b.remaining }

// spend takes units from the budget; false if there are not as many.
func (b *Budget) spend(units uint64) bool {
	if units > b.remaining {
		b.remaining = 0
		return false
	}
	b.remaining -= units
	return true
}

// Expression is the text of the program.
func (p *Program) Expression() string { return p.text }

// Type is the type of results.
func (p *Program) Type() *Type { return typeOf(p.result) }

// Eval evaluates the program, and takes what it costs from the budget. It ends soon when the context does.
// The error is ErrOutOfBudget if the budget is spent; otherwise it is what happened, in the words that
// users know. An evaluation whose cost is not known, as when it was interrupted, is charged in full.
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

// outcome is what came of an evaluation.
func (p *Program) outcome(out Value, err error) (Value, error) {
	if err != nil {
		return nil, evalError{translate(p.naming, err.Error()), err}
	}
	return out, nil
}

// An evalError has the names of the profile in its text. The original stays reachable, for errors.Is with
// those of a context.
type evalError struct {
	text string
	err  error
}

func (e evalError) Error() string { return e.text }
func (e evalError) Unwrap() error { return e.err }

// An activation is an Activation as programs take it.
type activation struct{ Activation }

func (a activation) ResolveName(name string) (any, bool) { return a.Lookup(name) }

// Parent is nil: there is no outer scope.
func (a activation) Parent() interpreter.Activation { return nil }
