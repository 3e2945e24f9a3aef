package custom

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/cel-go/common/types"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A ruleEvaluator runs the rules of one object.
type ruleEvaluator struct {
	ctx    context.Context
	faults *schema.Faults
	budget budget
}

// declaresRules tells whether a schema, or one within it, has rules.
func (n *node) declaresRules() bool {
	for _, p := range n.properties {
		if p.hasRules {
			return true
		}
	}
	return len(n.rules) > 0 || n.items != nil && n.items.hasRules || n.additional != nil && n.additional.hasRules
}

// evaluateRules runs the rules for a whole object, which must be valid otherwise: rules rely on the types of values.
func (n *node) evaluateRules(ctx context.Context, t, old tree.Tree, faults *schema.Faults) {
	timed, cancel := context.WithTimeout(ctx, evaluationTimeout)
	defer cancel()
	e := ruleEvaluator{timed, faults, budget{maxObjectCost}}
	e.evaluate(n, t, schema.Previous{Value: old, Exists: old != nil}, "", true)
	if timed.Err() != nil && ctx.Err() == nil {
		faults.InvalidOmitValue("", errBudget.Error())
	}
}

// evaluate runs the rules for v and its parts until the budget is spent.
func (e *ruleEvaluator) evaluate(n *node, v any, was schema.Previous, path string, isResourceRoot bool) {
	if v == nil || !n.hasRules || e.budget.remaining == 0 {
		return
	}
	e.rules(n, v, was, path, isResourceRoot)
	switch v := v.(type) {
	case tree.Tree:
		for _, name := range v.SortedKeys() {
			at := tree.FieldPath(path, name)
			if n.properties[name] == nil {
				at = tree.KeyPath(path, name)
			}
			if below := n.child(name); below != nil {
				e.evaluate(below, v[name], was.Field(name), at, below.embedded)
			}
		}
	case []any:
		if n.items == nil {
			return
		}
		old := n.identity.Index(was)
		for i, item := range v {
			e.evaluate(n.items, item, n.identity.Previous(old, item), tree.IndexPath(path, i), n.items.embedded)
		}
	}
}

// rules runs the rules of one node.
func (e *ruleEvaluator) rules(n *node, v any, was schema.Previous, path string, isResourceRoot bool) {
	if len(n.rules) == 0 {
		return
	}
	n.once.Do(func() { n.compiled, _ = n.compileRules(isResourceRoot) })
	unchanged := was.Exists && tree.StrictEqual(v, was.Value)
	values := map[string]any{"self": n.native(v)}
	for i := range n.compiled {
		r := &n.compiled[i]
		switch {
		case !r.transition && unchanged:
			continue
		case r.transition && r.optional && !was.Exists:
			values[oldSelf] = types.OptionalNone
		case r.transition && !was.Exists:
			continue
		case r.transition && r.optional:
			values[oldSelf] = types.OptionalOf(types.DefaultTypeAdapter.NativeToValue(n.native(was.Value)))
		case r.transition:
			values[oldSelf] = n.native(was.Value)
		}
		if !e.rule(r, v, values, path) {
			return
		}
	}
}

// rule runs one rule, and tells whether the next one may run.
func (e *ruleEvaluator) rule(r *rule, v any, values map[string]any, path string) bool {
	out, err := e.budget.run(e.ctx, r.check, values)
	switch {
	case e.ctx.Err() != nil: // nobody reads the result
		e.budget.remaining = 0
		return false
	case errors.Is(err, errBudget):
		e.faults.InvalidOmitValue(path, err.Error())
		return false
	case err != nil && strings.HasPrefix(err.Error(), errTooCostly.Error()):
		e.faults.InvalidOmitValue(path, fmt.Sprintf("'%v': no further validation rules will be run due to call cost exceeds limit for rule: %v", err, r.name()))
		e.budget.remaining = 0
		return false
	case err != nil && strings.HasPrefix(err.Error(), "no such overload"):
		e.faults.InvalidOmitValue(path, fmt.Sprintf("'%v': call arguments did not match a supported operator, function or macro signature for rule: %v", err, r.name()))
	case err != nil:
		e.faults.InvalidOmitValue(path, fmt.Sprintf("%v evaluating rule: %v", err, r.name()))
	case out != types.True:
		e.report(r, v, path, e.message(r, values))
	}
	return true
}

// name is what faults call a rule: its message, or its expression.
func (r *rule) name() string {
	if message := strings.TrimSpace(r.source.String("message")); message != "" {
		return message
	}
	return strings.TrimSpace(r.source.String("rule"))
}

// maxMessage bounds the result of a messageExpression, in bytes.
const maxMessage = 5 << 10

// message is the message of the fault of a rule that does not hold.
func (e *ruleEvaluator) message(r *rule, values map[string]any) string {
	if r.message != nil {
		if out, err := e.budget.run(e.ctx, r.message, values); err == nil {
			said, _ := out.Value().(string)
			if said = strings.TrimSpace(said); said != "" && len(said) <= maxMessage && !strings.ContainsAny(said, "\r\n") {
				return said
			}
		}
	}
	if message := strings.TrimSpace(r.source.String("message")); message != "" {
		return message
	}
	return "failed rule: " + r.name()
}

// report reports a rule that does not hold, with the reason that it gives.
func (e *ruleEvaluator) report(r *rule, v any, path, text string) {
	at := path
	if below := strings.TrimPrefix(r.source.String("fieldPath"), "."); below != "" {
		at = tree.FieldPath(path, below)
	}
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
