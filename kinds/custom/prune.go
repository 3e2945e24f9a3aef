package custom

import (
	"maps"

	"github.com/troupe-api/troupe/kinds/tree"
)

// A pruning drops the fields that a schema does not know.
type pruner struct{ unknown []string }

// prune prunes a whole object.
func (n *node) prune(t tree.Tree) (tree.Tree, []string) {
	var p pruner
	out, _ := p.fields(pruneScope{n, n.preserveUnknown}, t, "", true).(tree.Tree)
	return out, p.unknown
}

// A scope is where a pruning is: at a node, nil where nothing is known. What it does not know
// stays if the node is open, or is an item of a list that is.
type pruneScope struct {
	node            *node
	preserveUnknown bool
}

// value is v without what its scope does not know; v itself if that is nothing.
func (p *pruner) value(at pruneScope, v any, path string) any {
	switch v := v.(type) {
	case tree.Tree:
		return p.fields(at, v, path, at.node != nil && at.node.embedded)
	case []any:
		if at.node == nil {
			return p.list(at, v, path)
		}
		items := pruneScope{at.node.items, at.preserveUnknown}
		if items.node != nil && items.node.preserveUnknown {
			items.preserveUnknown = true
		}
		return p.list(items, v, path)
	}
	return v
}

// fields prunes an object; own tells that it is one with kind and metadata.
func (p *pruner) fields(at pruneScope, t tree.Tree, path string, isResourceRoot bool) any {
	edit := copyOnWrite{from: t, out: t}
	for _, name := range t.SortedKeys() {
		if isResourceRoot && isMetaField(name) {
			continue
		}
		var below *node
		if at.node != nil {
			below = at.node.child(name)
		}
		switch v := t[name]; {
		case below != nil:
			if kept := p.value(pruneScope{below, below.preserveUnknown}, v, tree.FieldPath(path, name)); !tree.SameRef(kept, v) {
				edit.copy()[name] = kept
			}
		case !at.preserveUnknown:
			p.unknown = append(p.unknown, tree.FieldPath(path, name))
			delete(edit.copy(), name)
		}
	}
	return edit.out
}

// An edit is an object that is copied when it is changed for the first time.
type copyOnWrite struct{ from, out tree.Tree }

func (e *copyOnWrite) copy() tree.Tree {
	if tree.SameRef(e.out, e.from) {
		e.out = maps.Clone(e.from)
	}
	return e.out
}

func (p *pruner) list(items pruneScope, list []any, path string) any {
	var out []any
	for i, v := range list {
		kept := p.value(items, v, tree.IndexPath(path, i))
		if out == nil && !tree.SameRef(kept, v) {
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
