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
	out, _ := p.fields(scope{n, n.open}, t, "", true).(schema.Tree)
	return out, p.unknown
}

// A scope is where a pruning is: at a node, nil where nothing is known. What it does not know
// stays if the node is open, or is an item of a list that is.
type scope struct {
	node *node
	open bool
}

// value is v without what its scope does not know; v itself if that is nothing.
func (p *pruning) value(at scope, v any, path string) any {
	switch v := v.(type) {
	case schema.Tree:
		return p.fields(at, v, path, at.node != nil && at.node.embedded)
	case []any:
		if at.node == nil {
			return p.list(at, v, path)
		}
		items := scope{at.node.items, at.open}
		if items.node != nil && items.node.open {
			items.open = true
		}
		return p.list(items, v, path)
	}
	return v
}

// fields prunes an object; own tells that it is one with kind and metadata.
func (p *pruning) fields(at scope, t schema.Tree, path string, own bool) any {
	edit := edit{from: t, out: t}
	for _, name := range rules.Keys(t) {
		if own && itself(name) {
			continue
		}
		var below *node
		if at.node != nil {
			below = at.node.child(name)
		}
		switch v := t[name]; {
		case below != nil:
			if kept := p.value(scope{below, below.open}, v, rules.Join(path, name)); !schema.Same(kept, v) {
				edit.copy()[name] = kept
			}
		case !at.open:
			p.unknown = append(p.unknown, rules.Join(path, name))
			delete(edit.copy(), name)
		}
	}
	return edit.out
}

// An edit is an object that is copied when it is changed for the first time.
type edit struct{ from, out schema.Tree }

func (e *edit) copy() schema.Tree {
	if schema.Same(e.out, e.from) {
		e.out = maps.Clone(e.from)
	}
	return e.out
}

func (p *pruning) list(items scope, list []any, path string) any {
	var out []any
	for i, v := range list {
		kept := p.value(items, v, rules.At(path, i))
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
