package custom

import (
	"maps"

	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// A pruning drops the fields that a schema does not know.
type pruning struct{ unknown []string }

// object prunes a whole object.
func (n *node) object(t schema.Tree) (schema.Tree, []string) {
	var p pruning
	out, _ := p.fields(n, t, "", true).(schema.Tree)
	return out, p.unknown
}

// value is v without what n does not know; v itself if that is nothing.
func (p *pruning) value(n *node, v any, path string) any {
	switch v := v.(type) {
	case schema.Tree:
		return p.fields(n, v, path, n != nil && n.embedded)
	case []any:
		var items *node
		if n != nil {
			if items = n.items; items == nil && n.open {
				return v
			}
		}
		return p.list(items, v, path)
	}
	return v
}

// fields prunes an object; own tells that it is one with kind and metadata.
func (p *pruning) fields(n *node, t schema.Tree, path string, own bool) any {
	out := t
	change := func(name string, v any, gone bool) {
		if schema.Same(out, t) {
			out = maps.Clone(t)
		}
		if gone {
			delete(out, name)
		} else {
			out[name] = v
		}
	}
	for _, name := range rules.Keys(t) {
		if own && itself(name) {
			continue
		}
		var below *node
		if n != nil {
			below = n.child(name)
		}
		switch v := t[name]; {
		case below != nil:
			if kept := p.value(below, v, rules.Join(path, name)); !schema.Same(kept, v) {
				change(name, kept, false)
			}
		case n == nil || !n.open:
			p.unknown = append(p.unknown, rules.Join(path, name))
			change(name, nil, true)
		}
	}
	return out
}

func (p *pruning) list(n *node, list []any, path string) any {
	var out []any
	for i, v := range list {
		kept := p.value(n, v, rules.At(path, i))
		if out == nil && !schema.Same(kept, v) {
			out = append(make([]any, 0, len(list)), list[:i]...)
		}
		if out != nil {
			out = append(out, kept)
		}
	}
	if out == nil {
		return list
	}
	return out
}
