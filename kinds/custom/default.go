package custom

import (
	"github.com/troupe-api/troupe/kinds/tree"
)

// maxDefaultsSize is how many bytes of JSON the defaults of one object may come to, about: as much as
// any object may have. What is left out then makes no difference: the object is too large.
const maxDefaultsSize = 8 << 20

// A filling is the work on one object.
type defaulter struct{ budget int }

// copyDefault is the default of a node for one more place; nil if there is none, or no room.
func (f *defaulter) copyDefault(n *node) any {
	if n.defaultValue == nil || f.budget < 0 {
		return nil
	}
	f.budget -= n.defaultSize
	return tree.Clone(n.defaultValue)
}

// jsonSize is how many bytes of JSON a value has at least.
func jsonSize(v any) int {
	switch v := v.(type) {
	case string:
		return len(v) + 2
	case tree.Tree:
		sum := 2
		for key, item := range v {
			sum += len(key) + 4 + jsonSize(item)
		}
		return sum
	case []any:
		sum := 2
		for _, item := range v {
			sum += 1 + jsonSize(item)
		}
		return sum
	}
	return 1
}

// setDefaults fills in what a whole object, if there is one, leaves out.
func (n *node) setDefaults(t tree.Tree) {
	if t == nil { // nothing is there, and nothing comes into being
		return
	}
	f := &defaulter{budget: maxDefaultsSize}
	for _, name := range n.names {
		if !isMetaField(name) {
			n.properties[name].setFieldDefaults(f, t, name)
		}
	}
	if n.additional == nil {
		return
	}
	for name := range t {
		if !isMetaField(name) && n.properties[name] == nil {
			n.additional.setFieldDefaults(f, t, name)
		}
	}
}

// setFieldDefaults fills in the field of t that n is about, and what is below it. A null that is no value
// counts as left out.
func (n *node) setFieldDefaults(f *defaulter, t tree.Tree, name string) {
	v, there := t[name]
	if v == nil && there && !n.nullable {
		delete(t, name)
		there = false
	}
	if !there && n.defaultValue != nil {
		if v = f.copyDefault(n); v != nil {
			f.budget -= len(name) + 4
			t[name] = v
		}
	}
	n.setChildDefaults(f, v)
}

// setChildDefaults fills in the parts of a value.
func (n *node) setChildDefaults(f *defaulter, v any) {
	switch v := v.(type) {
	case tree.Tree:
		for _, name := range n.names {
			n.properties[name].setFieldDefaults(f, v, name)
		}
		if n.additional == nil {
			return
		}
		for name := range v {
			if n.properties[name] == nil {
				n.additional.setFieldDefaults(f, v, name)
			}
		}
	case []any:
		if n.items == nil {
			return
		}
		for i := range v {
			if v[i] == nil && !n.items.nullable && n.items.defaultValue != nil {
				v[i] = f.copyDefault(n.items)
			}
			n.items.setChildDefaults(f, v[i])
		}
	}
}
