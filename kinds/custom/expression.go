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

// baseEnv is the environment of every expression: the language and the functions.
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
	transition bool        // it uses oldSelf
	optional   bool        // it runs without an old value too
}

// A ruleFault is what is wrong with a rule: with one of its members.
type ruleFault struct {
	member string
	err    error
}

// compileRules compiles the rules of a node; isResourceRoot: its values are objects with kind and
// metadata. Rules with faults are left out.
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

// oldSelf is the variable that holds the previous value.
const oldSelf = "oldSelf"

// environment is baseEnv with the types of a node.
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

// interruptEvery is the number of steps of a loop after which an expression checks whether its context has ended.
const interruptEvery = 100

func program(env *cel.Env, compiled *cel.Ast) (cel.Program, error) {
	options := cel.OptTrackCost
	if !usesGuarded(compiled) { // optimizing makes calls with constant arguments here, without any limit
		options |= cel.OptOptimize
	}
	return env.Program(compiled, cel.EvalOptions(options), cel.CostLimit(maxExpressionCost), cel.CostTracking(costEstimator{}),
		cel.InterruptCheckFrequency(interruptEvery), cel.OptimizeRegex(constants()...),
		cel.CustomDecorator(matchCalls))
}

// constants compile the regular expressions that are constants of an expression once.
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

// matchCalls replaces calls of matches whose regular expressions are not constant by calls that check their cost
// first.
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

// guardedOverloads are the guarded functions by the ids that calls use.
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

// usesOldSelf tells whether an expression uses the previous value.
func usesOldSelf(compiled *cel.Ast) bool {
	for _, reference := range compiled.NativeRep().ReferenceMap() {
		if reference.Name == oldSelf {
			return true
		}
	}
	return false
}

// errBudget says that the rules of an object have exceeded their cost limit.
var errBudget = errors.New("validation failed due to running out of cost budget, no further validation rules will be run")

// A budget is what is left of the cost limit for one object.
type budget struct{ remaining uint64 }

// run evaluates an expression. It stops when the context ends.
func (b *budget) run(ctx context.Context, p cel.Program, values map[string]any) (ref.Val, error) {
	out, details, err := p.ContextEval(ctx, values)
	spent := uint64(1) // at least, so that free expressions end too
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
