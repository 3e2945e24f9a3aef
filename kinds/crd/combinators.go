package crd

import (
	"fmt"
	"slices"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

type allOf struct{ plan *schema.ValuePlan }

func (a allOf) Evaluate(e *schema.Evaluation, v any, was schema.Previous) { e.Check(a.plan, v, was) }

type anyOf []*schema.ValuePlan

// Evaluate reports one error if no alternative matches. It drops the alternatives' own errors,
// because a valid value may violate all but one.
func (a anyOf) Evaluate(e *schema.Evaluation, v any, _ schema.Previous) {
	if !slices.ContainsFunc(a, func(p *schema.ValuePlan) bool { return e.Passes(p, v) }) {
		e.Invalid(e.Path(), "", fmt.Sprintf("%q must validate at least one schema (anyOf)", e.Path()))
	}
}

type oneOf []*schema.ValuePlan

func (o oneOf) Evaluate(e *schema.Evaluation, v any, _ schema.Previous) {
	passing := 0
	for _, p := range o {
		if e.Passes(p, v) {
			passing++
		}
	}
	switch {
	case passing == 0:
		e.Invalid(e.Path(), "", fmt.Sprintf("%q must validate one and only one schema (oneOf). Found none valid", e.Path()))
	case passing > 1:
		e.Invalid(e.Path(), "", fmt.Sprintf("%q must validate one and only one schema (oneOf). Found %d valid alternatives", e.Path(), passing))
	}
}

type not struct{ plan *schema.ValuePlan }

func (n not) Evaluate(e *schema.Evaluation, v any, _ schema.Previous) {
	if e.Passes(n.plan, v) {
		e.Invalid(e.Path(), "", fmt.Sprintf("%q must not validate the schema (not)", e.Path()))
	}
}

// valuesOfAll returns the value plans of the schemas in anyOf or oneOf. These plans never prune or
// default, because structural schemas declare fields and defaults outside anyOf and oneOf.
func valuesOfAll(nodes []*node, atRoot bool) []*schema.ValuePlan {
	all := make([]*schema.ValuePlan, len(nodes))
	for i, n := range nodes {
		all[i] = n.values(atRoot)
	}
	return all
}

type required []string

// Evaluate reports missing fields. A null field is not missing, because nulls that the schema does
// not allow have already been dropped.
func (r required) Evaluate(e *schema.Evaluation, v any, _ schema.Previous) {
	t, ok := v.(tree.Tree)
	if !ok || !e.Spend(len(r)/4) {
		return
	}
	for _, name := range r {
		if _, there := t[name]; !there {
			e.Required(e.PathOf(name))
		}
	}
}
