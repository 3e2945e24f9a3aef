package crd

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/troupe-api/troupe/kinds/cel"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// evaluationTimeout limits the duration of an evaluation, because many small steps may take more
// time than their cost suggests.
const evaluationTimeout = 5 * time.Second

type ruleSet struct {
	naming *meta.Naming
	root   *node
	once   sync.Once // prepares the nodes
}

// A ruleEvaluator runs the rules of one object. They share one budget, which limits the cost of a
// write regardless of the number of rules.
type ruleEvaluator struct {
	ctx    context.Context
	timer  *time.Timer // ends ctx after evaluationTimeout; nil without a timeout
	naming *meta.Naming
	faults *schema.Faults
	budget *cel.Budget
	ended  bool // evaluation has ended
	tree.Position
}

func (n *node) declaresRules() bool {
	for _, p := range n.properties {
		if p.hasRules {
			return true
		}
	}
	return len(n.rules) > 0 || n.items != nil && n.items.hasRules || n.additional != nil && n.additional.hasRules
}

// evaluate runs the rules of a whole object. The object must otherwise be valid, because rules rely
// on the types of values. A timeout rejects the object. If ctx is canceled, evaluate reports
// nothing, because the request was abandoned.
func (s *ruleSet) evaluate(ctx context.Context, t, old tree.Tree, faults *schema.Faults) {
	s.once.Do(s.root.prepareRules)
	timed, cancel := context.WithCancel(ctx)
	defer cancel()
	timer := time.AfterFunc(evaluationTimeout, cancel)
	defer timer.Stop()
	e := ruleEvaluator{ctx: timed, timer: timer, naming: s.naming, faults: faults, budget: cel.NewBudget(cel.RuntimeBudget)}
	e.evaluate(s.root, t, schema.Previous{Value: old, Exists: old != nil}, false)
	if timed.Err() != nil && ctx.Err() == nil {
		faults.Invalid("", "object", cel.ErrOutOfBudget.Error())
	}
}

// evaluate runs the rules for v and its child values until the budget is spent. Rules do not apply
// to null.
//
// unchanged is true if v is part of an unchanged value. Elements of lists without keys need this
// flag, because they have no previous value. A whole object never counts as unchanged, because
// every write changes its metadata.
func (e *ruleEvaluator) evaluate(n *node, v any, was schema.Previous, unchanged bool) {
	if v == nil || !n.hasRules || e.ended {
		return
	}
	unchanged = unchanged || len(e.Position) > 0 && was.Exists && tree.StrictEqual(v, was.Value)
	e.rules(n, v, was, unchanged)
	switch v := v.(type) {
	case tree.Tree:
		for _, name := range v.SortedKeys() {
			if below := n.child(name); below != nil && below.hasRules {
				back := n.enter(&e.Position, name)
				e.evaluate(below, v[name], was.Field(name), unchanged)
				e.Leave(back)
			}
		}
	case []any:
		if n.items == nil {
			return
		}
		old := n.identity.Index(was)
		for i, item := range v {
			back := e.EnterItem(i)
			e.evaluate(n.items, item, n.identity.Previous(old, item), unchanged)
			e.Leave(back)
		}
	}
}

func (n *node) compileRules(naming *meta.Naming) {
	compiler := ruleCompiler{naming: naming, self: n.selfType}
	for _, source := range n.rules {
		if r, fault := compiler.compile(n, source); fault == nil || fault.member != "rule" {
			n.compiled = append(n.compiled, r)
		}
	}
}

// rules runs the rules of one node. For an unchanged value it skips rules without oldSelf, so that
// new rules do not invalidate existing objects. Without an old value it skips rules with oldSelf,
// unless optionalOldSelf is set.
func (e *ruleEvaluator) rules(n *node, v any, was schema.Previous, unchanged bool) {
	if len(n.rules) == 0 {
		return
	}
	if !n.isCompiled.Load() {
		e.compile(n)
	}
	values := ruleValues{self: n.self.Value(v)}
	if was.Exists && was.Value != nil {
		values.old = n.self.Value(was.Value)
	}
	const steps = 100 // steps charged per rule
	for _, r := range n.compiled {
		if !e.faults.Work.Spend(steps) {
			e.ended = true
			return
		}
		values.optional = r.optional
		if !r.transition && unchanged || r.transition && values.old == nil && !r.optional {
			continue
		}
		if e.rule(n, r, v, &values); e.ended {
			return
		}
	}
}

// compile compiles the rules of n on first use and then restarts the evaluation timeout, because
// compiling a thousand rules takes seconds on a busy machine.
func (e *ruleEvaluator) compile(n *node) {
	if e.timer != nil {
		e.timer.Stop()
		defer e.timer.Reset(evaluationTimeout)
	}
	n.once.Do(func() {
		n.compileRules(e.naming)
		n.isCompiled.Store(true)
	})
}

type ruleValues struct {
	self, old cel.Value // old is nil if there is none
	optional  bool      // the rule's oldSelf is an optional
}

func (v *ruleValues) Lookup(name string) (any, bool) {
	switch {
	case name == selfName:
		return v.self, true
	case name != oldSelfName:
		return nil, false
	case v.optional:
		return cel.Optional(v.old), true
	}
	return v.old, v.old != nil
}

// rule evaluates one rule and reports a violation. An evaluation error counts as a violation,
// because a failing rule must not admit a write.
func (e *ruleEvaluator) rule(n *node, r *rule, v any, values *ruleValues) {
	out, err := r.check.Eval(e.ctx, values, e.budget)
	if err == nil && cel.Truth(out) && e.ctx.Err() == nil {
		return
	}
	path := e.Cut(maxPath)
	switch {
	case e.ctx.Err() != nil: // the request is abandoned
		e.ended = true
	case err == cel.ErrOutOfBudget:
		e.end(n, path, err.Error())
	case cel.IsCostLimit(err):
		e.end(n, path, fmt.Sprintf("'%v': no further validation rules will be run due to call cost exceeds limit for rule: %v", err, r.name()))
	case cel.IsNoSuchOverload(err):
		e.faults.Invalid(path, n.kind, fmt.Sprintf("'%v': call arguments did not match a supported operator, function or macro signature for rule: %v", err, r.name()))
	case err != nil:
		e.faults.Invalid(path, n.kind, fmt.Sprintf("%v evaluating rule: %v", err, r.name()))
	default:
		at := path
		if r.fieldPath != "" {
			at = tree.FieldPath(path, r.fieldPath)
		}
		if text, ok := e.message(n, r, values, at); ok {
			e.report(r, v, at, text)
		}
	}
}

func (e *ruleEvaluator) end(n *node, path, why string) {
	e.faults.Invalid(path, n.kind, why)
	e.ended = true
}

// message returns the message of a violated rule. ok is false if the evaluation must end. message
// returns the static message if the messageExpression fails, or if its result is empty, too long or
// has line breaks.
func (e *ruleEvaluator) message(n *node, r *rule, values *ruleValues, path string) (string, bool) {
	if r.message != nil {
		out, err := r.message.Eval(e.ctx, values, e.budget)
		switch {
		case err == cel.ErrOutOfBudget:
			e.end(n, path, "messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run")
			return "", false
		case cel.IsCostLimit(err):
			e.end(n, path, fmt.Sprintf("no further validation rules will be run due to call cost exceeds limit for messageExpression: %q", r.message.Expression()))
			return "", false
		case err == nil:
			said, _ := cel.Text(out)
			if said = strings.TrimSpace(said); said != "" && len(said) <= cel.MaxMessage && !strings.Contains(said, "\n") {
				return said, true
			}
		}
	}
	if message := r.source.String("message"); message != "" {
		return strings.TrimSpace(message), true
	}
	return "failed rule: " + r.name(), true
}

func (e *ruleEvaluator) report(r *rule, v any, at, text string) {
	switch meta.CauseType(r.source.String("reason")) {
	case meta.CauseRequired:
		e.faults.Required(at, text)
	case meta.CauseForbidden:
		e.faults.Forbidden(at, text)
	case meta.CauseDuplicate:
		e.faults.Duplicate(at, v)
	default:
		switch v.(type) {
		case tree.Tree, []any:
			e.faults.InvalidOmitValue(at, text)
		default:
			e.faults.Invalid(at, v, text)
		}
	}
}
