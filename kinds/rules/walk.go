package rules

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Fields checks the fields of an object or the entries of a map, each with its own plan. If Ordered
// is set, it visits all checked fields in declaration order, to find missing required fields.
// Otherwise it visits only the existing keys.
type Fields struct{ *schema.Parts }

func (f Fields) Evaluate(e *schema.Evaluation, v any, was schema.Previous) {
	t, ok := v.(tree.Tree)
	if !ok {
		return
	}
	if f.Ordered {
		for i := range f.Checked {
			checkPart(e, &f.Checked[i], t, was)
		}
		return
	}
	names := f.KnownKeys(t)
	if !e.Spend(len(names) / 4) {
		return
	}
	for _, name := range names {
		if v, there := t[name]; there {
			f.entry(e, name, v, was)
		}
	}
}

// checkPart checks one field of t. If a required field is missing, it runs only the further checks
// that also apply to the zero value (schema.EmptyChecked).
func checkPart(e *schema.Evaluation, p *schema.Part, t tree.Tree, was schema.Previous) {
	v, there := t[p.Name]
	if p.Required && isMissing(p.ValuePlan, v) {
		e.Required(e.PathOf(p.Name), p.RequiredDetail)
		if p.Zero == nil {
			return
		}
	}
	if w := p.RequiredWhen; w != nil && isMissing(p.ValuePlan, v) && isRequired(w, t) {
		e.Required(e.PathOf(p.Name), w.Detail)
		return
	}
	if v == nil && p.CheckAbsent {
		v = tree.Tree{}
	}
	if isAbsent(p.ValuePlan, v, there) && (v == nil || !p.Required) {
		if p.Zero == nil {
			return
		}
		v = p.Zero
	}
	back := e.EnterField(p.Name)
	e.Check(p.ValuePlan, v, was.Field(p.Name))
	e.Leave(back)
}

// isRequired reports whether another field of t makes a field required. An empty Values matches any
// value, including zero and false.
func isRequired(w *schema.RequiredWhen, t tree.Tree) bool {
	if len(w.Values) == 0 {
		return !isMissing(nil, t[w.Field])
	}
	return slices.Contains(w.Values, t.String(w.Field))
}

// entry checks one key and its value. Map keys are user data and have their own evaluators.
func (f Fields) entry(e *schema.Evaluation, key string, v any, was schema.Previous) {
	p := f.ByName[key]
	if p == nil && !(f.IsResource && schema.IsResourceField(key)) {
		p = f.Additional
	}
	if p == nil {
		return
	}
	var back int
	if f.IsMap {
		back = e.EnterKey(key)
	} else {
		back = e.EnterField(key)
	}
	for _, evaluator := range f.Keys {
		evaluator.Evaluate(e, key, schema.Previous{})
	}
	e.Check(p, v, was.Field(key))
	e.Leave(back)
}

// isMissing reports whether a required field has no value. Zero numbers, false and empty objects
// are values, but empty maps are not. Without a plan, a map counts as an object.
func isMissing(p *schema.ValuePlan, v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case tree.Tree:
		return p != nil && p.Parts != nil && p.Parts.IsMap && len(v) == 0
	}
	return false
}

func isAbsent(p *schema.ValuePlan, v any, there bool) bool {
	switch p.Absence {
	case schema.AbsentIfMissing:
		return !there
	case schema.AbsentIfNull:
		return v == nil
	}
	return tree.IsEmpty(v)
}

// Items checks the items of a list. Identity finds an item's previous value, which some evaluators
// need.
type Items struct {
	Plan     *schema.ValuePlan
	Identity *Identity // nil if no evaluator needs previous values
}

func (i Items) Evaluate(e *schema.Evaluation, v any, was schema.Previous) {
	list, ok := v.([]any)
	if !ok {
		return
	}
	old := i.Identity.Index(was)
	for n, item := range list {
		back := e.EnterItem(n)
		e.Check(i.Plan, item, i.Identity.Previous(old, item))
		e.Leave(back)
	}
}
