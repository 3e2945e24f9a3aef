package custom

import (
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// mostFilled is how many bytes of JSON the defaults of one object may come to, about: as much as
// any object may have. What is left out then makes no difference: the object is too large.
const mostFilled = 8 << 20

// A filling is the work on one object.
type filling struct{ room int }

// copy is the default of a node for one more place; nil if there is none, or no room.
func (f *filling) copy(n *node) any {
	if n.fill == nil || f.room < 0 {
		return nil
	}
	f.room -= n.weight
	return rules.Clone(n.fill)
}

// weight is how many bytes of JSON a value has at least.
func weight(v any) int {
	switch v := v.(type) {
	case string:
		return len(v) + 2
	case schema.Tree:
		sum := 2
		for key, item := range v {
			sum += len(key) + 4 + weight(item)
		}
		return sum
	case []any:
		sum := 2
		for _, item := range v {
			sum += 1 + weight(item)
		}
		return sum
	}
	return 1
}

// complete fills in what a whole object, if there is one, leaves out.
func (n *node) complete(t schema.Tree) {
	if t == nil { // nothing is there, and nothing comes into being
		return
	}
	f := &filling{room: mostFilled}
	for _, name := range n.names {
		if !itself(name) {
			n.properties[name].field(f, t, name)
		}
	}
	if n.additional == nil {
		return
	}
	for name := range t {
		if !itself(name) && n.properties[name] == nil {
			n.additional.field(f, t, name)
		}
	}
}

// field fills in the field of t that n is about, and what is below it. A null that is no value
// counts as left out.
func (n *node) field(f *filling, t schema.Tree, name string) {
	v, there := t[name]
	if v == nil && there && !n.nullable {
		delete(t, name)
		there = false
	}
	if !there && n.fill != nil {
		if v = f.copy(n); v != nil {
			f.room -= len(name) + 4
			t[name] = v
		}
	}
	n.below(f, v)
}

// below fills in the parts of a value.
func (n *node) below(f *filling, v any) {
	switch v := v.(type) {
	case schema.Tree:
		for _, name := range n.names {
			n.properties[name].field(f, v, name)
		}
		if n.additional == nil {
			return
		}
		for name := range v {
			if n.properties[name] == nil {
				n.additional.field(f, v, name)
			}
		}
	case []any:
		if n.items == nil {
			return
		}
		for i := range v {
			if v[i] == nil && !n.items.nullable && n.items.fill != nil {
				v[i] = f.copy(n.items)
			}
			n.items.below(f, v[i])
		}
	}
}
