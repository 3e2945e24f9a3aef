package rules

import (
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Prune returns a whole object without the fields that its plan does not know, and the paths of those. The result shares
// memory with t, which is not changed.
//
// As an example, with a plan that knows spec.size only, {"spec":{"size":1,"x":2}} becomes
// {"spec":{"size":1}}, and unknown is spec.x. The paths become warnings or an error, as the request wants
// it.
func Prune(p *schema.ValuePlan, t tree.Tree) (pruned tree.Tree, unknown []string) {
	var pruning pruner
	pruned, _ = pruning.fields(pruneScope{p, p.PreserveUnknown}, t, "").(tree.Tree)
	return pruned, pruning.unknown
}

// PruneValue is Prune for one value of a plan, at the path "". An object with kind and metadata of its own keeps those.
func PruneValue(p *schema.ValuePlan, v any) (pruned any, unknown []string) {
	var pruning pruner
	pruned = pruning.value(pruneScope{p, p.PreserveUnknown}, v, "")
	return pruned, pruning.unknown
}

type pruner struct {
	unknown []string
	config  bool // the object is a configuration to apply
}

// PruneConfig is Prune for a configuration to apply, which may name fields of objects of which the plan says nothing.
func PruneConfig(p *schema.ValuePlan, t tree.Tree) (pruned tree.Tree, unknown []string) {
	pruning := pruner{config: true}
	pruned, _ = pruning.fields(pruneScope{p, p.PreserveUnknown}, t, "").(tree.Tree)
	return pruned, pruning.unknown
}

// A pruneScope is the plan of a value, nil where nothing is known of it. Unknown fields are kept if preserveUnknown is
// set, by this plan or by that of the list that holds the value.
//
// A list hands it on to its items, for a definition may say so of the list alone.
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

// The type of a value is not checked here: what does not fit its plan is left for validation to report.
func (p *pruner) fields(at pruneScope, t tree.Tree, path string) any {
	var parts *schema.Parts
	if at.plan != nil {
		parts = at.plan.Parts
	}
	edit := tree.CopyOnWrite{From: t}
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
				edit.Set(name, kept)
			}
		case !at.preserveUnknown && !(p.config && at.plan != nil && at.plan.Bare):
			p.unknown = append(p.unknown, tree.FieldPath(path, name))
			edit.Drop(name)
		}
	}
	return edit.Result()
}

// keysToPrune lists the keys of t in their order, among others. Most objects have only known fields, and nothing needs to be
// sorted.
//
// The order matters only for the paths of unknown fields, which come out sorted.
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

// Items are never removed, only copied where something in them was: their number and order stay.
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
