package custom

import (
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// complete fills in what a whole object leaves out.
func (n *node) complete(t schema.Tree) {
	for _, name := range n.names {
		if !itself(name) {
			n.properties[name].field(t, name)
		}
	}
	if n.additional == nil {
		return
	}
	for name := range t {
		if !itself(name) && n.properties[name] == nil {
			n.additional.field(t, name)
		}
	}
}

// field fills in the field of t that n is about, and what is below it. A null that is no value
// counts as left out.
func (n *node) field(t schema.Tree, name string) {
	v, there := t[name]
	if v == nil && there && !n.nullable {
		delete(t, name)
		there = false
	}
	if !there && n.fill != nil {
		v = rules.Clone(n.fill)
		t[name] = v
	}
	n.below(v)
}

// below fills in the parts of a value.
func (n *node) below(v any) {
	switch v := v.(type) {
	case schema.Tree:
		for _, name := range n.names {
			n.properties[name].field(v, name)
		}
		if n.additional == nil {
			return
		}
		for name := range v {
			if n.properties[name] == nil {
				n.additional.field(v, name)
			}
		}
	case []any:
		if n.items == nil {
			return
		}
		for i := range v {
			if v[i] == nil && !n.items.nullable && n.items.fill != nil {
				v[i] = rules.Clone(n.items.fill)
			}
			n.items.below(v[i])
		}
	}
}
