package custom

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/cel-go/common/types"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// An evaluation runs the rules of one object.
type evaluation struct {
	ctx    context.Context
	faults *schema.Faults
	budget budget
}

// ruled tells whether there are rules in a schema, or below it.
func (n *node) ruled() bool {
	for _, p := range n.properties {
		if p.hasRules {
			return true
		}
	}
	return len(n.rules) > 0 || n.items != nil && n.items.hasRules || n.additional != nil && n.additional.hasRules
}

// evaluate runs the rules for v and its parts, as far as the budget goes.
func (e *evaluation) evaluate(n *node, v any, was before, path string, own bool) {
	if v == nil || !n.hasRules || e.budget.left == 0 {
		return
	}
	e.rules(n, v, was, path, own)
	switch v := v.(type) {
	case schema.Tree:
		for _, name := range rules.Keys(v) {
			at := rules.Join(path, name)
			if n.properties[name] == nil {
				at = rules.Key(path, name)
			}
			if below := n.child(name); below != nil {
				e.evaluate(below, v[name], was.of(name), at, below.embedded)
			}
		}
	case []any:
		if n.items == nil {
			return
		}
		old := n.byKey(was)
		for i, item := range v {
			e.evaluate(n.items, item, n.past(old, item), rules.At(path, i), n.items.embedded)
		}
	}
}

// rules runs the rules of one node.
func (e *evaluation) rules(n *node, v any, was before, path string, own bool) {
	if len(n.rules) == 0 {
		return
	}
	n.once.Do(func() { n.compiled, _ = n.compileRules(own) })
	unchanged := was.there && schema.Identical(v, was.v)
	values := map[string]any{"self": n.native(v)}
	for i := range n.compiled {
		r := &n.compiled[i]
		switch {
		case !r.transition && unchanged:
			continue
		case r.transition && r.optional && !was.there:
			values[oldSelf] = types.OptionalNone
		case r.transition && !was.there:
			continue
		case r.transition && r.optional:
			values[oldSelf] = types.OptionalOf(types.DefaultTypeAdapter.NativeToValue(n.native(was.v)))
		case r.transition:
			values[oldSelf] = n.native(was.v)
		}
		if !e.rule(r, v, values, path) {
			return
		}
	}
}

// rule runs one rule, and tells whether others may follow.
func (e *evaluation) rule(r *rule, v any, values map[string]any, path string) bool {
	out, err := e.budget.run(e.ctx, r.check, values)
	switch {
	case e.ctx.Err() != nil: // nobody wants to know
		e.budget.left = 0
		return false
	case errors.Is(err, errBudget):
		e.faults.Unfit(path, err.Error())
		return false
	case err != nil && strings.HasPrefix(err.Error(), errTooCostly.Error()):
		e.faults.Unfit(path, fmt.Sprintf("'%v': no further validation rules will be run due to call cost exceeds limit for rule: %v", err, r.name()))
		e.budget.left = 0
		return false
	case err != nil && strings.HasPrefix(err.Error(), "no such overload"):
		e.faults.Unfit(path, fmt.Sprintf("'%v': call arguments did not match a supported operator, function or macro signature for rule: %v", err, r.name()))
	case err != nil:
		e.faults.Unfit(path, fmt.Sprintf("%v evaluating rule: %v", err, r.name()))
	case out != types.True:
		e.report(r, v, path, e.text(r, values))
	}
	return true
}

// name is how a fault calls a rule.
func (r *rule) name() string {
	if message := strings.TrimSpace(rules.Text(r.source, "message")); message != "" {
		return message
	}
	return strings.TrimSpace(rules.Text(r.source, "rule"))
}

// maxMessage bounds what an expression may say, in bytes.
const maxMessage = 5 << 10

// text is what a rule that does not hold says.
func (e *evaluation) text(r *rule, values map[string]any) string {
	if r.message != nil {
		if out, err := e.budget.run(e.ctx, r.message, values); err == nil {
			said, _ := out.Value().(string)
			if said = strings.TrimSpace(said); said != "" && len(said) <= maxMessage && !strings.ContainsAny(said, "\r\n") {
				return said
			}
		}
	}
	if message := strings.TrimSpace(rules.Text(r.source, "message")); message != "" {
		return message
	}
	return "failed rule: " + r.name()
}

// report tells of a rule that does not hold, with the reason that it gives.
func (e *evaluation) report(r *rule, v any, path, text string) {
	at := path
	if below := strings.TrimPrefix(rules.Text(r.source, "fieldPath"), "."); below != "" {
		at = rules.Join(path, below)
	}
	switch meta.CauseType(rules.Text(r.source, "reason")) {
	case meta.CauseRequired:
		e.faults.Required(at, text)
	case meta.CauseForbidden:
		e.faults.Forbidden(at, text)
	case meta.CauseDuplicate:
		e.faults.Duplicate(at, v)
	default:
		switch v.(type) {
		case schema.Tree, []any:
			e.faults.Unfit(at, text)
		default:
			e.faults.Invalid(at, v, text)
		}
	}
}
