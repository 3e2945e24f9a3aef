package cel

import (
	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/interpreter"
)

// While counting costs, cel-go keeps the results of all conditions and steps until a loop ends, and
// searches them for the arguments of each step. A loop over n elements therefore takes n² time. To
// avoid this, each step is wrapped in a free call that consumes the results of the iteration.

// loopStep is the function that wraps the steps of loops. Expressions cannot contain this name.
const loopStep = "@step"

func declareLoopStep() cel.EnvOption {
	return cel.Function(loopStep, cel.Overload(loopStep, []*cel.Type{cel.DynType}, cel.DynType, cel.UnaryBinding(func(v ref.Val) ref.Val { return v })))
}

// wrapLoopSteps wraps the steps of all loops of a checked expression. restore removes the wrappers.
// conditions maps the IDs of wrapping calls to the IDs of the loops' conditions.
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
		inner := factory.NewUnspecifiedExpr(last) // the step itself, under another id
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

type cleaningStep struct {
	interpreter.InterpretableCall
	args []interpreter.InterpretableV2
}

func (s *cleaningStep) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	return s.InterpretableCall.Args()[0].Exec(frame)
}

// Args returns the results that the cost tracker removes after the call: the call's previous
// result, the condition, and the step.
func (s *cleaningStep) Args() []interpreter.InterpretableV2 { return s.args }

func cleanLoops(conditions map[int64]int64) interpreter.InterpretableDecoratorV2 {
	return func(i interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
		call, ok := i.(interpreter.InterpretableCall)
		if !ok || call.Function() != loopStep {
			return i, nil
		}
		named := func(id int64) interpreter.InterpretableV2 { return interpreter.NewConstValue(id, types.NullValue) }
		return &cleaningStep{call, []interpreter.InterpretableV2{named(call.ID()), named(conditions[call.ID()]), call.Args()[0]}}, nil
	}
}
