package rules

import (
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Prune returns t without fields that its plan lacks, and the paths of up to MaxUnknown of them. It
// does not change t, but the result shares memory with t. For a plan with only spec.size,
// {"spec":{"size":1,"x":2}} becomes {"spec":{"size":1}}, and unknown is spec.x.
func Prune(p *schema.ValuePlan, t tree.Tree) (pruned tree.Tree, unknown []string) {
	return new(pruner).root(p, t)
}

// PruneConfig prunes an apply configuration. Unlike Prune, it keeps all fields of an object without
// declared fields.
func PruneConfig(p *schema.ValuePlan, t tree.Tree) (pruned tree.Tree, unknown []string) {
	return (&pruner{config: true}).root(p, t)
}

// PruneValue prunes one value and reports paths relative to it. An embedded object keeps its
// apiVersion, kind and metadata.
func PruneValue(p *schema.ValuePlan, v any) (pruned any, unknown []string) {
	var pruning pruner
	pruned = pruning.value(pruneScope{p, p.PreserveUnknown}, v)
	return pruned, pruning.unknown
}

type pruner struct {
	tree.Position
	unknown []string
	config  bool // the object is an apply configuration
}

// Limits on the number of reported unknown fields, and on their path length in bytes.
const (
	MaxUnknown     = 1000
	maxUnknownPath = 1 << 10
)

func (p *pruner) root(plan *schema.ValuePlan, t tree.Tree) (pruned tree.Tree, unknown []string) {
	pruned, _ = p.fields(pruneScope{plan, plan.PreserveUnknown}, t).(tree.Tree)
	return pruned, p.unknown
}

// A pruneScope contains the plan of a value, which may be nil. preserveUnknown is true if this plan
// or the plan of the enclosing list keeps unknown fields.
type pruneScope struct {
	plan            *schema.ValuePlan
	preserveUnknown bool
}

// value returns v without unknown fields, or v itself if all are known.
func (p *pruner) value(at pruneScope, v any) any {
	switch v := v.(type) {
	case tree.Tree:
		return p.fields(at, v)
	case []any:
		if at.plan == nil {
			return p.list(at, v)
		}
		items := pruneScope{at.plan.Items, at.preserveUnknown}
		if items.plan != nil && items.plan.PreserveUnknown {
			items.preserveUnknown = true
		}
		return p.list(items, v)
	}
	return v
}

// fields prunes an object. It keeps values that do not fit their plan, because validation reports
// them.
func (p *pruner) fields(at pruneScope, t tree.Tree) any {
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
		back := p.EnterField(name)
		switch {
		case below != nil:
			if kept := p.value(pruneScope{below, below.PreserveUnknown}, v); !tree.SameRef(kept, v) {
				edit.Set(name, kept)
			}
		case !at.preserveUnknown && !(p.config && at.plan != nil && at.plan.Bare):
			if len(p.unknown) < MaxUnknown {
				p.unknown = append(p.unknown, p.Cut(maxUnknownPath))
			}
			edit.Drop(name)
		}
		p.Leave(back)
	}
	return edit.Result()
}

// keysToPrune returns a list that contains at least the keys of t. If any is unknown, the list is
// sorted, so that unknown paths are reported in order.
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

// list prunes items and keeps their number and order. It copies the list only if an item changes.
func (p *pruner) list(items pruneScope, list []any) any {
	var out []any
	for i, v := range list {
		back := p.EnterItem(i)
		kept := p.value(items, v)
		p.Leave(back)
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
