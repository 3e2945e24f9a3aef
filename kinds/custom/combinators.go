package custom

import (
	"fmt"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// allOf is one of the further schemas that a value has to meet.
type allOf struct{ plan *schema.ValuePlan }

func (a allOf) Evaluate(e *schema.Evaluation, v any, was schema.Previous) { e.Check(a.plan, v, was) }

// anyOf are schemas of which a value has to meet one.
type anyOf []*schema.ValuePlan

// The faults of the alternatives are not reported: a value that meets one of them would have those of all others.
func (a anyOf) Evaluate(e *schema.Evaluation, v any, _ schema.Previous) {
	if countPassing(e, a, v) == 0 {
		e.Invalid(e.Path(), "", fmt.Sprintf("%q must validate at least one schema (anyOf)", e.Path()))
	}
}

// oneOf are schemas of which a value has to meet exactly one.
type oneOf []*schema.ValuePlan

func (o oneOf) Evaluate(e *schema.Evaluation, v any, _ schema.Previous) {
	switch passing := countPassing(e, o, v); {
	case passing == 0:
		e.Invalid(e.Path(), "", fmt.Sprintf("%q must validate one and only one schema (oneOf). Found none valid", e.Path()))
	case passing > 1:
		e.Invalid(e.Path(), "", fmt.Sprintf("%q must validate one and only one schema (oneOf). Found %d valid alternatives", e.Path(), passing))
	}
}

// not is a schema that a value may not meet.
type not struct{ plan *schema.ValuePlan }

func (n not) Evaluate(e *schema.Evaluation, v any, _ schema.Previous) {
	if e.Passes(n.plan, v) {
		e.Invalid(e.Path(), "", fmt.Sprintf("%q must not validate the schema (not)", e.Path()))
	}
}

// countPassing counts the schemas that a value meets.
func countPassing(e *schema.Evaluation, plans []*schema.ValuePlan, v any) (count int) {
	for _, p := range plans {
		if e.Passes(p, v) {
			count++
		}
	}
	return count
}

// valuesOfAll are the plans of some schemas.
//
// Schemas in these lists only check; they have no defaults and prune nothing, as a structural schema may not say
// there what fields there are.
func valuesOfAll(nodes []*node, atRoot bool) []*schema.ValuePlan {
	all := make([]*schema.ValuePlan, len(nodes))
	for i, n := range nodes {
		all[i] = n.values(atRoot)
	}
	return all
}

// required are the fields that an object has to have.
type required []string

// A field with null counts as there, unless null was dropped before, as it is where the schema does not allow it.
func (r required) Evaluate(e *schema.Evaluation, v any, _ schema.Previous) {
	t, ok := v.(tree.Tree)
	if !ok {
		return
	}
	for _, name := range r {
		if _, there := t[name]; !there {
			e.Required(e.PathOf(name))
		}
	}
}
