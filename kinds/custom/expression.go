package custom

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/ext"

	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// What expressions may cost when they run, in the units of CEL.
const (
	maxExpressionCost = 1_000_000  // one of them
	maxObjectCost     = 10_000_000 // all for one object
)

// language is what every expression can use.
var language = sync.OnceValues(func() (*cel.Env, error) {
	return cel.NewEnv(append(library(),
		cel.HomogeneousAggregateLiterals(), cel.EagerlyValidateDeclarations(true), cel.DefaultUTCTimeZone(true),
		cel.CrossTypeNumericComparisons(true), cel.OptionalTypes(), ext.Strings(ext.StringsVersion(2)), ext.Sets(), ext.TwoVarComprehensions(),
	)...)
})

// A rule is one of x-platform-validations, compiled.
type rule struct {
	source     schema.Tree
	check      cel.Program
	message    cel.Program // nil without messageExpression
	transition bool        // it looks at the old value
	optional   bool        // and there may be none
}

// A ruleFault is what is wrong with a rule: with one of its members.
type ruleFault struct {
	member string
	err    error
}

// compileRules compiles the rules of a node; own tells that its values are objects with kind and
// metadata. Those with faults are left out.
func (n *node) compileRules(own bool) (compiled []rule, faults map[int]ruleFault) {
	faults = map[int]ruleFault{}
	env, self, err := n.environment(own)
	for i, source := range n.rules {
		var r rule
		fault := ruleFault{"rule", err}
		if err == nil {
			r, fault = compileRule(env, self, source)
		}
		if fault.err != nil {
			faults[i] = fault
		} else {
			compiled = append(compiled, r)
		}
	}
	return compiled, faults
}

// oldSelf is what expressions call the value before.
const oldSelf = "oldSelf"

// environment is the language with the types of a node.
func (n *node) environment(own bool) (*cel.Env, *cel.Type, error) {
	env, err := language()
	if err != nil {
		return nil, nil, err
	}
	p, err := newProvider()
	if err != nil {
		return nil, nil, err
	}
	self := p.declare(n, "self", own)
	env, err = env.Extend(cel.CustomTypeProvider(p), cel.CustomTypeAdapter(p.Registry), cel.Variable("self", self))
	return env, self, err
}

func compileRule(env *cel.Env, self *cel.Type, source schema.Tree) (rule, ruleFault) {
	r := rule{source: source, optional: rules.Flag(source, "optionalOldSelf")}
	if strings.Contains(rules.Text(source, "rule")+rules.Text(source, "messageExpression"), oldSelf) {
		if r.optional {
			self = types.NewOptionalType(self)
		}
		var err error
		if env, err = env.Extend(cel.Variable(oldSelf, self)); err != nil {
			return r, ruleFault{"rule", err}
		}
	}
	compiled, err := compileExpression(env, rules.Text(source, "rule"), cel.BoolType)
	if err != nil {
		return r, ruleFault{"rule", err}
	}
	r.transition = usesOldSelf(compiled)
	if r.check, err = program(env, compiled); err != nil {
		return r, ruleFault{"rule", err}
	}
	if text := rules.Text(source, "messageExpression"); strings.TrimSpace(text) != "" {
		said, err := compileExpression(env, text, cel.StringType)
		if err == nil {
			r.message, err = program(env, said)
		}
		if err != nil {
			return r, ruleFault{"messageExpression", err}
		}
	}
	return r, ruleFault{}
}

func compileExpression(env *cel.Env, text string, want *cel.Type) (*cel.Ast, error) {
	compiled, issues := env.Compile(text)
	if issues.Err() != nil {
		return nil, fmt.Errorf("compilation failed: %s", issues.String())
	}
	if !compiled.OutputType().IsExactType(want) && !compiled.OutputType().IsExactType(cel.DynType) {
		return nil, fmt.Errorf("must evaluate to %s", want)
	}
	return compiled, nil
}

func program(env *cel.Env, compiled *cel.Ast) (cel.Program, error) {
	return env.Program(compiled, cel.EvalOptions(cel.OptOptimize, cel.OptTrackCost), cel.CostLimit(maxExpressionCost))
}

// usesOldSelf tells whether an expression looks at the old value.
func usesOldSelf(compiled *cel.Ast) bool {
	for _, reference := range compiled.NativeRep().ReferenceMap() {
		if reference.Name == oldSelf {
			return true
		}
	}
	return false
}

// errBudget says that the rules of an object have cost too much.
var errBudget = errors.New("validation failed due to running out of cost budget, no further validation rules will be run")

// A budget is what the rules of one object may still cost.
type budget struct{ left uint64 }

// run evaluates an expression.
func (b *budget) run(p cel.Program, values map[string]any) (ref.Val, error) {
	out, details, err := p.Eval(values)
	if cost := details.ActualCost(); cost != nil {
		if *cost > b.left {
			b.left = 0
			return nil, errBudget
		}
		b.left -= *cost
	}
	return out, err
}
