package schema

import (
	"strconv"

	"github.com/troupe-api/troupe/kinds/tree"
)

// An Evaluator checks one thing about values. It reports faults to the evaluation; a value of a type that it is not
// about has none.
type Evaluator interface {
	Evaluate(e *Evaluation, v any, was Previous)
}

// Previous is what a value was in the state before, if there is one that it can be told from.
type Previous struct {
	Value  any
	Exists bool
}

// Field is the same for a field of the value.
func (p Previous) Field(name string) Previous {
	t, ok := p.Value.(tree.Tree)
	if !ok || !p.Exists {
		return Previous{}
	}
	v, there := t[name]
	return Previous{v, there}
}

// An Evaluation checks one object. It keeps the path to the value that is being looked at, which becomes text only
// where there is a fault.
type Evaluation struct {
	*Faults
	path []byte
}

// NewEvaluation begins at a path, "" for a whole object.
func NewEvaluation(path string, faults *Faults) *Evaluation {
	e := &Evaluation{Faults: faults, path: make([]byte, 0, 128)}
	e.path = append(e.path, path...)
	return e
}

// Path leads to the value, as in spec.containers[0].name.
func (e *Evaluation) Path() string { return string(e.path) }

// PathOf leads to a field of the value.
func (e *Evaluation) PathOf(name string) string { return tree.FieldPath(string(e.path), name) }

// ListPath leads to the list that holds the value, which is one of its elements.
func (e *Evaluation) ListPath() string {
	for i := len(e.path) - 1; i >= 0; i-- {
		if e.path[i] == '[' {
			return string(e.path[:i])
		}
	}
	return string(e.path)
}

// EnterField goes on to a field of the value. What it returns leads back (Leave).
func (e *Evaluation) EnterField(name string) (back int) {
	back = len(e.path)
	if back > 0 {
		e.path = append(e.path, '.')
	}
	e.path = append(e.path, name...)
	return back
}

// EnterPath goes on to what is at a path below the value; "" is the value itself.
func (e *Evaluation) EnterPath(path string) (back int) {
	if path != "" && path[0] != '[' {
		return e.EnterField(path)
	}
	back = len(e.path)
	e.path = append(e.path, path...)
	return back
}

// EnterKey goes on to an entry of a map.
func (e *Evaluation) EnterKey(key string) (back int) {
	back = len(e.path)
	e.path = append(append(append(e.path, '['), key...), ']')
	return back
}

// EnterItem goes on to an element of a list.
func (e *Evaluation) EnterItem(i int) (back int) {
	back = len(e.path)
	e.path = append(strconv.AppendInt(append(e.path, '['), int64(i), 10), ']')
	return back
}

// Leave goes back to where an Enter came from.
func (e *Evaluation) Leave(back int) { e.path = e.path[:back] }

// Check checks a value by its plan. What is as it was is not looked at again: a plan may become stricter while
// there are objects that do not meet it.
func (e *Evaluation) Check(p *ValuePlan, v any, was Previous) {
	if was.Exists && !p.Recheck && tree.StrictEqual(v, was.Value) {
		return
	}
	if v == nil && p.Nullable {
		return
	}
	e.Run(p, v, was)
}

// Run is Check of a value that is looked at in any case.
func (e *Evaluation) Run(p *ValuePlan, v any, was Previous) {
	for _, evaluator := range p.Evaluators {
		evaluator.Evaluate(e, v, was)
	}
}

// Passes tells whether a value has no fault by a plan. Nothing is reported.
func (e *Evaluation) Passes(p *ValuePlan, v any) bool {
	var faults Faults
	reported := e.Faults
	e.Faults = &faults
	e.Check(p, v, Previous{})
	e.Faults = reported
	return len(faults.List) == 0
}
