package cel

import (
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
)

// Counting what steps cost, the library keeps the values of the conditions and the steps of a loop until the loop ends, and
// looks for the arguments of each further step among all of them: a loop over n elements takes n² time, which one text of
// hundreds of thousands of parts makes minutes, for a cost that is allowed. So each step of a loop is wrapped in a call that
// costs nothing and has, for the library, what is left over as its arguments: it takes them away.

// loopStep is the function of that call. No expression can name it.
const loopStep = "@step"

// declareLoopStep declares the function, whose result is its argument.
func declareLoopStep() cel.EnvOption {
	return cel.Function(loopStep, cel.Overload(loopStep, []*cel.Type{cel.DynType}, cel.DynType, cel.UnaryBinding(func(v ref.Val) ref.Val { return v })))
}

// wrapLoopSteps wraps the steps of all loops of a checked expression until restore is called, and returns the conditions by the calls.
func wrapLoopSteps(checked *ast.AST) (conditions map[int64]int64, restore func()) {
	conditions = map[int64]int64{}
	last, factory := ast.MaxID(checked), ast.NewExprFactory()
	var wrapped []func()
	ast.PostOrderVisit(checked.Expr(), ast.NewExprVisitor(func(x ast.Expr) {
		if x.Kind() != ast.ComprehensionKind {
			return
		}
		step := x.AsComprehension().LoopStep()
		id, reference := step.ID(), checked.ReferenceMap()[step.ID()]
		conditions[id] = x.AsComprehension().LoopCondition().ID()
		last++
		inner := factory.NewUnspecifiedExpr(last) // the step itself, under another number
		inner.SetKindCase(step)
		checked.SetType(last, checked.GetType(id))
		if reference != nil {
			checked.SetReference(last, reference)
		}
		step.SetKindCase(factory.NewCall(id, loopStep, inner))
		checked.SetReference(id, ast.NewFunctionReference(loopStep))
		wrapped = append(wrapped, func() {
			step.SetKindCase(inner)
			delete(checked.ReferenceMap(), inner.ID())
			delete(checked.TypeMap(), inner.ID())
			if delete(checked.ReferenceMap(), id); reference != nil {
				checked.SetReference(id, reference)
			}
		})
	}))
	return conditions, func() {
		for _, undo := range wrapped {
			undo()
		}
	}
}

// A cleaningStep is the call around the step of a loop.
type cleaningStep struct {
	interpreter.InterpretableCall
	args []interpreter.Interpretable
}

// Eval implements interpreter.Interpretable: it is the step, faults included.
func (s *cleaningStep) Eval(vars interpreter.Activation) ref.Val {
	return s.InterpretableCall.Args()[0].Eval(vars)
}

// Args are the results that the call takes away: the last one of itself, that of the condition, and that of the step.
func (s *cleaningStep) Args() []interpreter.Interpretable { return s.args }

// cleanLoops makes the calls around steps what takes away.
func cleanLoops(conditions map[int64]int64) interpreter.InterpretableDecorator {
	return func(i interpreter.Interpretable) (interpreter.Interpretable, error) {
		call, ok := i.(interpreter.InterpretableCall)
		if !ok || call.Function() != loopStep {
			return i, nil
		}
		named := func(id int64) interpreter.Interpretable { return interpreter.NewConstValue(id, types.NullValue) }
		return &cleaningStep{call, []interpreter.Interpretable{named(call.ID()), named(conditions[call.ID()]), call.Args()[0]}}, nil
	}
}
