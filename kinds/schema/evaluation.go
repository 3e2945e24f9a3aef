package schema

import (
	"strconv"

	"github.com/troupe-api/troupe/kinds/tree"
)

// An Evaluator checks one property of values and reports faults to the evaluation. It accepts
// values of types that it does not apply to.
type Evaluator interface {
	Evaluate(e *Evaluation, v any, was Previous)
}

// Previous is the previous state of a value, if it can be identified.
type Previous struct {
	Value  any
	Exists bool
}

// Field returns the previous state of a field of the value.
func (p Previous) Field(name string) Previous {
	t, ok := p.Value.(tree.Tree)
	if !ok || !p.Exists {
		return Previous{}
	}
	v, there := t[name]
	return Previous{v, there}
}

// An Evaluation checks one object. It keeps the path to the current value as bytes, which become
// text only for a fault.
type Evaluation struct {
	*Faults
	path []byte
}

// NewEvaluation returns an evaluation that starts at path, "" for a whole object.
func NewEvaluation(path string, faults *Faults) *Evaluation {
	e := &Evaluation{path: make([]byte, 0, 128)}
	e.Start(path, faults)
	return e
}

// Start prepares for the evaluation of another object.
func (e *Evaluation) Start(path string, faults *Faults) {
	e.Faults, e.path = faults, append(e.path[:0], path...)
}

// Path returns the path to the current value, as in spec.containers[0].name.
func (e *Evaluation) Path() string { return string(e.path) }

// PathOf returns the path to a field of the current value.
func (e *Evaluation) PathOf(name string) string { return tree.FieldPath(string(e.path), name) }

// ListPath returns the path to the list that holds the current value.
func (e *Evaluation) ListPath() string {
	for i := len(e.path) - 1; i >= 0; i-- {
		if e.path[i] == '[' {
			return string(e.path[:i])
		}
	}
	return string(e.path)
}

// EnterField moves to a field of the current value. The result is for Leave.
func (e *Evaluation) EnterField(name string) (back int) {
	back = len(e.path)
	if back > 0 {
		e.path = append(e.path, '.')
	}
	e.path = append(e.path, name...)
	return back
}

// EnterPath moves to a path below the current value; "" stays at the value.
func (e *Evaluation) EnterPath(path string) (back int) {
	if path != "" && path[0] != '[' {
		return e.EnterField(path)
	}
	back = len(e.path)
	e.path = append(e.path, path...)
	return back
}

// EnterKey moves to an entry of a map.
func (e *Evaluation) EnterKey(key string) (back int) {
	back = len(e.path)
	e.path = append(append(append(e.path, '['), key...), ']')
	return back
}

// EnterItem moves to an item of a list.
func (e *Evaluation) EnterItem(i int) (back int) {
	back = len(e.path)
	e.path = append(strconv.AppendInt(append(e.path, '['), int64(i), 10), ']')
	return back
}

// Leave moves back to the position before an Enter method.
func (e *Evaluation) Leave(back int) { e.path = e.path[:back] }

// Check runs the evaluators of a plan. It skips unchanged values, because objects may exist that do
// not meet a plan that became stricter.
func (e *Evaluation) Check(p *ValuePlan, v any, was Previous) {
	if was.Exists && !p.Recheck && tree.StrictEqual(v, was.Value) {
		return
	}
	if v == nil && p.Nullable {
		return
	}
	e.Run(p, v, was)
}

// Run runs the evaluators of a plan, even for an unchanged value.
func (e *Evaluation) Run(p *ValuePlan, v any, was Previous) {
	for _, evaluator := range p.Evaluators {
		evaluator.Evaluate(e, v, was)
	}
}

// Passes reports whether a value meets a plan, without reporting faults.
func (e *Evaluation) Passes(p *ValuePlan, v any) bool {
	var faults Faults
	reported := e.Faults
	e.Faults = &faults
	e.Check(p, v, Previous{})
	e.Faults = reported
	return len(faults.List) == 0
}
