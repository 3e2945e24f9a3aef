package rules

import (
	"maps"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Prune returns a whole object without the fields that its plan does not know, and the paths of those. The result shares
// memory with t, which is not changed.
func Prune(p *schema.ValuePlan, t tree.Tree) (pruned tree.Tree, unknown []string) {
	var pruning pruner
	pruned, _ = pruning.fields(pruneScope{p, p.PreserveUnknown}, t, "").(tree.Tree)
	return pruned, pruning.unknown
}

type pruner struct{ unknown []string }

// A pruneScope is the plan of a value, nil where nothing is known of it. Unknown fields are kept if preserveUnknown is
// set, by this plan or by that of the list that holds the value.
type pruneScope struct {
	plan            *schema.ValuePlan
	preserveUnknown bool
}

// value is v without unknown fields; v itself if there are none.
func (p *pruner) value(at pruneScope, v any, path string) any {
	switch v := v.(type) {
	case tree.Tree:
		return p.fields(at, v, path)
	case []any:
		if at.plan == nil {
			return p.list(at, v, path)
		}
		items := pruneScope{at.plan.Items, at.preserveUnknown}
		if items.plan != nil && items.plan.PreserveUnknown {
			items.preserveUnknown = true
		}
		return p.list(items, v, path)
	}
	return v
}

func (p *pruner) fields(at pruneScope, t tree.Tree, path string) any {
	var parts *schema.Parts
	if at.plan != nil {
		parts = at.plan.Parts
	}
	edit := copyOnWrite{from: t, out: t}
	for _, name := range keysToPrune(parts, t) {
		v, there := t[name]
		if !there {
			continue
		}
		if parts != nil && parts.IsResource && schema.IsResourceField(name) {
			continue
		}
		below := parts.Child(name)
		switch {
		case below != nil:
			if kept := p.value(pruneScope{below, below.PreserveUnknown}, v, tree.FieldPath(path, name)); !tree.SameRef(kept, v) {
				edit.copy()[name] = kept
			}
		case !at.preserveUnknown:
			p.unknown = append(p.unknown, tree.FieldPath(path, name))
			delete(edit.copy(), name)
		}
	}
	return edit.out
}

// keysToPrune lists the keys of t in their order, among others. Most objects have only known fields, and nothing needs to be
// sorted.
func keysToPrune(parts *schema.Parts, t tree.Tree) []string {
	if parts == nil {
		return t.SortedKeys()
	}
	for name := range t {
		if parts.ByName[name] == nil && !(parts.IsResource && schema.IsResourceField(name)) {
			return t.SortedKeys()
		}
	}
	return parts.KnownKeys(t)
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

// copyOnWrite is an object that is copied when it is changed for the first time.
type copyOnWrite struct{ from, out tree.Tree }

func (e *copyOnWrite) copy() tree.Tree {
	if tree.SameRef(e.out, e.from) {
		e.out = maps.Clone(e.from)
	}
	return e.out
}
