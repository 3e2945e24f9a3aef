package custom

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/ext"
	"github.com/google/cel-go/interpreter"

	"github.com/troupe-api/troupe/kinds/tree"
)

// baseEnv is what every expression can use.
var baseEnv = sync.OnceValues(func() (*cel.Env, error) {
	env, err := cel.NewEnv(append(library(),
		cel.HomogeneousAggregateLiterals(), cel.EagerlyValidateDeclarations(true), cel.DefaultUTCTimeZone(true),
		cel.CrossTypeNumericComparisons(true), cel.OptionalTypes(), ext.Strings(ext.StringsVersion(2)), ext.Sets(), ext.TwoVarComprehensions(),
	)...)
	if err != nil {
		return nil, err
	}
	return guardFunctions(env)
})

// A rule is one of x-platform-validations, compiled.
type rule struct {
	source     tree.Tree
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
func (n *node) compileRules(isResourceRoot bool) (compiled []rule, faults map[int]ruleFault) {
	faults = map[int]ruleFault{}
	env, self, err := n.environment(isResourceRoot)
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
func (n *node) environment(isResourceRoot bool) (*cel.Env, *cel.Type, error) {
	env, err := baseEnv()
	if err != nil {
		return nil, nil, err
	}
	p, err := newProvider()
	if err != nil {
		return nil, nil, err
	}
	self := p.declare(n, "@self", isResourceRoot)
	env, err = env.Extend(cel.CustomTypeProvider(p), cel.CustomTypeAdapter(p.Registry), cel.Variable("self", self))
	return env, self, err
}

func compileRule(env *cel.Env, self *cel.Type, source tree.Tree) (rule, ruleFault) {
	r := rule{source: source, optional: source.Bool("optionalOldSelf")}
	if strings.Contains(source.String("rule")+source.String("messageExpression"), oldSelf) {
		if r.optional {
			self = types.NewOptionalType(self)
		}
		var err error
		if env, err = env.Extend(cel.Variable(oldSelf, self)); err != nil {
			return r, ruleFault{"rule", err}
		}
	}
	compiled, err := compileExpression(env, source.String("rule"), cel.BoolType)
	if err != nil {
		return r, ruleFault{"rule", err}
	}
	r.transition = usesOldSelf(compiled)
	if r.check, err = program(env, compiled); err != nil {
		return r, ruleFault{"rule", err}
	}
	if text := source.String("messageExpression"); strings.TrimSpace(text) != "" {
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

// interruptEvery is after how many steps of a loop an expression looks whether it may go on.
const interruptEvery = 100

func program(env *cel.Env, compiled *cel.Ast) (cel.Program, error) {
	options := cel.OptTrackCost
	if !usesGuarded(compiled) { // whose calls of constants would be made at once, as often as there are
		options |= cel.OptOptimize
	}
	return env.Program(compiled, cel.EvalOptions(options), cel.CostLimit(maxExpressionCost), cel.CostTracking(costEstimator{}),
		cel.InterruptCheckFrequency(interruptEvery), cel.OptimizeRegex(constants()...),
		cel.CustomDecorator(matchCalls))
}

// constants compile the regular expressions that stand in an expression once.
func constants() []*interpreter.RegexOptimization {
	var all []*interpreter.RegexOptimization
	for _, id := range []string{overloads.Matches, overloads.MatchesString} {
		all = append(all, &interpreter.RegexOptimization{Function: overloads.Matches, OverloadID: id, RegexIndex: 1,
			Factory: func(call interpreter.InterpretableCall, pattern string) (interpreter.InterpretableCall, error) {
				compiled, err := regexp.Compile(pattern)
				return matchCall(call, func(string) (*regexp.Regexp, error) { return compiled, nil }), err
			}})
	}
	return all
}

// matchCalls puts calls that look at their cost in the place of those of matches whose regular expressions
// are not known yet.
func matchCalls(i interpreter.Interpretable) (interpreter.Interpretable, error) {
	call, ok := i.(interpreter.InterpretableCall)
	if !ok || call.Function() != overloads.Matches || len(call.Args()) != 2 {
		return i, nil
	}
	if _, known := call.Args()[1].(interpreter.InterpretableConst); known {
		return i, nil
	}
	return matchCall(call, regexp.Compile), nil
}

func matchCall(call interpreter.InterpretableCall, compile func(string) (*regexp.Regexp, error)) interpreter.InterpretableCall {
	return interpreter.NewCall(call.ID(), call.Function(), call.OverloadID(), call.Args(), func(args ...ref.Val) ref.Val {
		text, isText := args[0].Value().(string)
		pattern, isPattern := args[1].Value().(string)
		if !isText || !isPattern {
			return types.MaybeNoSuchOverloadErr(args[0])
		}
		if cost, _ := callCost(overloads.Matches, args); cost > maxExpressionCost {
			return types.WrapErr(errTooCostly)
		}
		compiled, err := compile(pattern)
		if err != nil {
			return types.WrapErr(err)
		}
		return types.Bool(compiled.MatchString(text))
	})
}

// usesGuarded tells whether an expression calls one of the guarded functions.
func usesGuarded(compiled *cel.Ast) bool {
	for _, reference := range compiled.NativeRep().ReferenceMap() {
		for _, id := range reference.OverloadIDs {
			if guardedOverloads()[id] {
				return true
			}
		}
	}
	return false
}

// guardedOverloads are the guarded functions as calls name them.
var guardedOverloads = sync.OnceValue(func() map[string]bool {
	ids := map[string]bool{}
	if env, err := baseEnv(); err == nil {
		for _, name := range guardedFunctions {
			for _, o := range env.Functions()[name].OverloadDecls() {
				ids[o.ID()] = true
			}
		}
	}
	return ids
})

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
type budget struct{ remaining uint64 }

// run evaluates an expression, which ends with the context.
func (b *budget) run(ctx context.Context, p cel.Program, values map[string]any) (ref.Val, error) {
	out, details, err := p.ContextEval(ctx, values)
	spent := uint64(1) // also of what costs nothing
	if cost := details.ActualCost(); cost != nil {
		spent = max(spent, *cost)
	}
	if spent > b.remaining {
		b.remaining = 0
		return nil, errBudget
	}
	b.remaining -= spent
	return out, err
}
