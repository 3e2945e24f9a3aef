package schema

import (
	"fmt"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// An Evaluator checks one property of values and reports errors to the evaluation. It must ignore
// values whose type lacks the property.
type Evaluator interface {
	Evaluate(e *Evaluation, v any, was Previous)
}

// A Previous is the value that the current value replaces in an update. Exists is false if that
// value cannot be identified.
type Previous struct {
	Value  any
	Exists bool
}

// Field returns the previous value of the named field.
func (p Previous) Field(name string) Previous {
	t, ok := p.Value.(tree.Tree)
	if !ok || !p.Exists {
		return Previous{}
	}
	v, there := t[name]
	return Previous{v, there}
}

// An Evaluation checks one object. Its Position is the path to the current value.
type Evaluation struct {
	*Faults
	tree.Position
}

// NewEvaluation returns an evaluation that starts at path, which is empty for a whole object.
func NewEvaluation(path string, faults *Faults) *Evaluation {
	e := &Evaluation{Position: make(tree.Position, 0, 128)}
	e.Start(path, faults)
	return e
}

// Start resets e for the evaluation of another object.
func (e *Evaluation) Start(path string, faults *Faults) {
	e.Faults, e.Position = faults, append(e.Position[:0], path...)
}

// Path returns the path to the current value for an error, such as spec.containers[0].name. It
// returns "" if errors are not reported.
func (e *Evaluation) Path() string {
	if e.omits() {
		return ""
	}
	return string(e.Position)
}

// PathOf returns the path to a field of the current value.
func (e *Evaluation) PathOf(name string) string { return tree.FieldPath(e.Path(), name) }

// ListPath returns the path to the list that contains the current value.
func (e *Evaluation) ListPath() string {
	path := e.Path()
	if i := strings.LastIndexByte(path, '['); i >= 0 {
		return path[:i]
	}
	return path
}

// Check runs the evaluators of a plan. It skips unchanged values, so that a stricter plan does not
// reject updates of existing objects.
func (e *Evaluation) Check(p *ValuePlan, v any, was Previous) {
	if e.ended() || !e.Spend(1+len(p.Evaluators)) {
		return
	}
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
		if e.ended() {
			return
		}
		evaluator.Evaluate(e, v, was)
	}
}

// Passes reports whether a value satisfies a plan. It stops at the first error, without reporting
// it.
func (e *Evaluation) Passes(p *ValuePlan, v any) bool {
	muted, failed := e.muted, e.failed
	e.muted, e.failed = true, false
	e.Check(p, v, Previous{})
	passes := !e.failed
	e.muted, e.failed = muted, failed
	return passes
}

func (e *Evaluation) ended() bool { return e.muted && e.failed || e.Work.err != nil }

// Spend charges n steps of work on the current value and reports whether the evaluation continues.
// It reports an exhausted budget as an error of the current value.
func (e *Evaluation) Spend(n int) bool {
	if e.Work.Spend(n) {
		return true
	}
	if e.Work.err == errTooCostly && !e.costly {
		e.costly = true
		e.List = append(e.List, meta.Cause{Type: meta.CauseInvalid, Field: e.Cut(maxPathBytes),
			Message: fmt.Sprintf("Invalid value: the cost of validation exceeds %d for the whole object: simplify pattern, anyOf, oneOf, allOf or not in the schema, or reduce the object", ValidationBudget)})
	}
	return false
}
