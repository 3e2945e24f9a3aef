package rules

import (
	"github.com/troupe-api/troupe/kinds/quantity"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Default sets the plan's defaults, and then those of the kind's Strategy, which may depend on
// them. It changes only those subtrees of t in which a default is missing. The caller must own
// these subtrees, but may share others with a stored object. A nil tree remains nil.
func Default(k *schema.Kind, t tree.Tree) {
	if t == nil {
		return
	}
	if k.Message() != nil {
		DefaultValue(k.Message().Values, t)
	}
	k.Strategy.Default(t)
}

// DefaultValue sets a plan's defaults in a whole object. The plan may be nil.
func DefaultValue(p *schema.ValuePlan, t tree.Tree) {
	if p == nil || p.Parts == nil || t == nil {
		return
	}
	if len(p.Parts.Defaulted) > 0 || p.Parts.Additional != nil {
		d := defaulter{budget: maxDefaultsSize}
		d.parts(p.Parts, t)
	}
}

// maxDefaultsSize limits the size of all defaults in one object, in bytes of JSON. An object that
// reaches the limit is too large to be accepted.
const maxDefaultsSize = 8 << 20

// A defaulter sets the defaults of one object. budget is the rest of maxDefaultsSize, which is
// needed because a small CRD may declare a large default for items, and a request may contain many
// items.
type defaulter struct{ budget int }

func (d *defaulter) copyDefault(p *schema.ValuePlan) any {
	if d.budget < 0 {
		return nil
	}
	d.budget -= p.DefaultSize
	return tree.Clone(p.Default)
}

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

func roundToThousandths(t tree.Tree, name string) {
	if text, ok := t[name].(string); ok {
		t[name] = quantity.WholeThousandths(text)
	}
}

// absentObject sets the defaults of an absent object. It does not add an empty object, because the
// client did not request that.
func (d *defaulter) absentObject(p *schema.ValuePlan, t tree.Tree, name string) {
	sub := tree.Tree{}
	if d.children(p, sub); len(sub) > 0 {
		t[name] = sub
	}
}

// children sets the defaults within existing fields, items and entries. It never adds items.
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
	if d.budget < 0 {
		return
	}
	visited := p.Defaulted
	sparse := len(t) < len(visited)-p.Filled
	if sparse {
		visited = visited[:p.Filled]
	}
	for i := range visited {
		d.field(visited[i].ValuePlan, t, visited[i].Name)
	}
	if p.Additional == nil && !sparse {
		return
	}
	for name := range t {
		if known := p.ByName[name]; known == nil && p.Additional != nil {
			d.field(p.Additional, t, name)
		} else if known != nil && sparse {
			d.field(known, t, name)
		}
	}
}
