package managedfields

import (
	"maps"
	"slices"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// withoutPaths returns a tree of message m without the paths of a set. It replaces objects and
// lists that become empty with emptied{}, and the caller decides whether to remove them. For
// {"a":{"b":1},"c":2} and the set a.b, the result is {"a":emptied{},"c":2}. For the set a, it is
// {"c":2}.
func withoutPaths(m *schema.Message, t tree.Tree, remove Set) tree.Tree {
	if remove.Empty() {
		return t
	}
	out := maps.Clone(t)
	for _, n := range remove.nodes {
		v, ok := t[n.text]
		f := m.Field(n.text)
		if n.kind != 'f' || !ok || f == nil {
			continue
		}
		prune(out, n, func() any { return valueWithout(f, false, v, n.below) })
	}
	return out
}

func prune(out tree.Tree, n node, rest func() any) {
	if n.member {
		delete(out, n.text)
		return
	}
	out[n.text] = rest()
}

func valueWithout(f *schema.Field, element bool, v any, remove Set) any {
	granularity := granularityOf(f, element)
	object, isTree := v.(tree.Tree)
	switch {
	case remove.Empty() || granularity == atomic:
		return v
	case granularity == byItem:
		return listWithout(f, v, remove)
	case !isTree || len(object) == 0:
		return v
	}
	var out tree.Tree
	if granularity == byField {
		out = withoutPaths(f.Message, object, remove)
	} else {
		out = maps.Clone(object)
		for _, n := range remove.nodes {
			if old, ok := object[n.text]; ok && n.kind == 'f' {
				prune(out, n, func() any { return valueWithout(f, true, old, n.below) })
			}
		}
	}
	if len(out) == 0 && !(granularity == byField && keepsEmitEmpty(f.Message, remove)) {
		return emptied{}
	}
	return out
}

func keepsEmitEmpty(m *schema.Message, remove Set) bool {
	return slices.ContainsFunc(m.Fields, func(f *schema.Field) bool { return f.EmitEmpty && !remove.has(fieldElement(f.Name)) })
}

func listWithout(f *schema.Field, v any, remove Set) any {
	list, _ := v.([]any)
	if len(list) == 0 {
		return v
	}
	out := make([]any, 0, len(list))
	for _, item := range list {
		at := itemElement(f, item)
		n := remove.find(at)
		switch {
		case n == nil:
			out = append(out, item)
		case n.member:
		default:
			out = append(out, valueWithout(f, true, item, n.below))
		}
	}
	if len(out) == 0 {
		return emptied{}
	}
	return out
}

func namedRoot(m *schema.Message, s Set) Set {
	out := named(m, s)
	if n := out.find(fieldElement("metadata")); n != nil {
		n.member = false
	}
	return out
}

// named adds the message fields along each path of s, because owning a nested field protects its
// parents from removal. For example, spec.template.x becomes spec, spec.template and
// spec.template.x. It does not add map keys and list items.
func named(m *schema.Message, s Set) Set {
	nodes := make([]node, len(s.nodes))
	for i, n := range s.nodes {
		nodes[i] = n
		f := m.Field(n.text)
		if n.kind != 'f' || f == nil {
			continue
		}
		nodes[i].member = n.member || f != m.Additional
		nodes[i].below = namedBelow(f, false, n.below)
	}
	return Set{nodes}
}

func namedBelow(f *schema.Field, element bool, s Set) Set {
	if s.Empty() {
		return s
	}
	switch granularityOf(f, element) {
	case byField:
		return named(f.Message, s)
	case byKey, byItem:
		nodes := make([]node, len(s.nodes))
		for i, n := range s.nodes {
			n.below = namedBelow(f, true, n.below)
			nodes[i] = n
		}
		return Set{nodes}
	}
	return s
}

func withoutEmptied(v any) any {
	switch v := v.(type) {
	case emptied:
		return nil
	case tree.Tree:
		out := v
		for key, e := range v {
			left := withoutEmptied(e)
			if tree.SameRef(left, e) {
				continue
			}
			if tree.SameRef(out, v) {
				out = maps.Clone(v)
			}
			if left == nil {
				delete(out, key)
			} else {
				out[key] = left
			}
		}
		return out
	case []any:
		return listWithoutEmptied(v)
	}
	return v
}

func listWithoutEmptied(list []any) []any {
	out, changed := make([]any, 0, len(list)), false
	for _, e := range list {
		left := withoutEmptied(e)
		changed = changed || !tree.SameRef(left, e)
		if left != nil {
			out = append(out, left)
		}
	}
	if !changed {
		return list
	}
	return out
}
