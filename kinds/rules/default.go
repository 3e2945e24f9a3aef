package rules

import (
	"github.com/troupe-api/troupe/kinds/quantity"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Default fills in what t leaves out: the defaults of the plan, then those of the
// kind's function, which may depend on several fields. A nil tree stays nil.
//
// As examples, a Deployment without replicas gets 1, and a port without a protocol "TCP". Defaults of declarations come first, because those of functions may depend on them. t is
// written to: the caller owns what is not complete yet. What is complete, such as the parts of a stored object, is not
// written to.
func Default(k *schema.Kind, t tree.Tree) {
	if t == nil {
		return
	}
	if k.Message() != nil {
		DefaultValue(k.Message().Values, t)
	}
	k.Strategy.Default(t)
}

// DefaultValue fills in the defaults of a plan, which may be nil, in a whole object.
func DefaultValue(p *schema.ValuePlan, t tree.Tree) {
	if p == nil || t == nil {
		return
	}
	d := defaulter{budget: maxDefaultsSize}
	d.children(p, t)
}

// maxDefaultsSize bounds the JSON of all defaults of one object, in bytes. It is about the most that an object may
// have: where defaulting stops there, the object is refused as too large anyway.
const maxDefaultsSize = 8 << 20

// A defaulter fills in one object. Its budget is what is left of maxDefaultsSize.
//
// A definition of a few bytes may declare a large default for the items of a list, of which a request may
// name very many: hence a bound for the object, which a bound for each default would not give.
type defaulter struct{ budget int }

// copyDefault copies the default of a plan; nil if there is none, or no budget is left.
//
// The copy is the object's own: defaults are shared by all objects, which change what they have got.
func (d *defaulter) copyDefault(p *schema.ValuePlan) any {
	if p.Default == nil || d.budget < 0 {
		return nil
	}
	d.budget -= p.DefaultSize
	return tree.Clone(p.Default)
}

// field fills in one field of t, and what is below it.
func (d *defaulter) field(p *schema.ValuePlan, t tree.Tree, name string) {
	v, there := t[name]
	if there && v == nil && p.DropNull {
		delete(t, name)
		there = false
	}
	switch {
	case p.Default != nil && isAbsent(p, v, there):
		if v = d.copyDefault(p); v != nil {
			d.budget -= len(name) + 4
			t[name] = v
		}
	case v != nil && p.WholeThousandths:
		roundToThousandths(t, name)
	case v != nil:
	case p.NullDefault != nil:
		t[name] = p.NullDefault
	case p.FillAbsent:
		d.absentObject(p, t, name)
		return
	}
	d.children(p, v)
}

// roundToThousandths rounds an amount of t. A text that is none is left to validation.
func roundToThousandths(t tree.Tree, name string) {
	if text, ok := t[name].(string); ok {
		t[name] = quantity.WholeThousandths(text)
	}
}

// absentObject fills in an object that is left out if some of its fields have defaults.
//
// An object that would be empty is not added: it would be a change that no one has asked for.
func (d *defaulter) absentObject(p *schema.ValuePlan, t tree.Tree, name string) {
	sub := tree.Tree{}
	if d.children(p, sub); len(sub) > 0 {
		t[name] = sub
	}
}

// children fills in the parts of a value.
//
// Items and entries that are there get the defaults of what is in them; none is ever added.
func (d *defaulter) children(p *schema.ValuePlan, v any) {
	switch v := v.(type) {
	case tree.Tree:
		if p.Parts != nil {
			d.parts(p.Parts, v)
		}
	case []any:
		if p.Items == nil {
			return
		}
		for i := range v {
			if v[i] == nil && p.Items.DropNull && p.Items.Default != nil {
				v[i] = d.copyDefault(p.Items)
			}
			d.children(p.Items, v[i])
		}
	}
}

func (d *defaulter) parts(p *schema.Parts, t tree.Tree) {
	for i := range p.Defaulted {
		d.field(p.Defaulted[i].ValuePlan, t, p.Defaulted[i].Name)
	}
	if p.Additional == nil {
		return
	}
	for name := range t {
		if p.ByName[name] == nil {
			d.field(p.Additional, t, name)
		}
	}
}
