package managedfields

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// withExplicit restores the configuration's empty objects, empty lists and nulls after prune has
// removed them. Without it, repeating the apply would set them again, as in kube-apiserver.
func withExplicit(m *schema.Message, merged, config tree.Tree) tree.Tree {
	o := overlay{live: merged}
	for name, v := range config {
		if f := m.Field(name); f != nil {
			if v = explicitValue(f, false, merged[name], v, m.Custom != nil); v != nil {
				o.set(name, v)
			}
		}
	}
	return o.tree()
}

// explicitValue applies withExplicit to one value, where nil means absent. nulls is true for custom
// kinds, in which null is a value.
func explicitValue(f *schema.Field, element bool, merged, config any, nulls bool) any {
	if merged == nil || merged == (emptied{}) {
		if config == (null{}) && nulls || isEmptyComposite(config) {
			return config
		}
		return merged
	}
	switch granularity := granularityOf(f, element); granularity {
	case byItem:
		return explicitItems(f, merged, config, nulls)
	case byField, byKey:
		x, isTree := merged.(tree.Tree)
		y, areTrees := config.(tree.Tree)
		if !isTree || !areTrees {
			break
		}
		o := overlay{live: x}
		for name, v := range y {
			below, isElement := f, true
			if granularity == byField {
				below, isElement = f.Message.Field(name), false
			}
			if below == nil {
				continue
			}
			if v = explicitValue(below, isElement, x[name], v, nulls); v != nil {
				o.set(name, v)
			}
		}
		return o.tree()
	}
	return merged
}

func isEmptyComposite(v any) bool {
	switch v := v.(type) {
	case tree.Tree:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}

func explicitItems(f *schema.Field, merged, config any, nulls bool) any {
	wanted, _ := config.([]any)
	if len(wanted) == 0 || f.ListType == schema.ListSet {
		return merged
	}
	x := newIndexedList(f, merged)
	out := x.items
	for _, item := range wanted {
		i, ok := x.index[itemElement(f, item)]
		if !ok || i < 0 {
			continue
		}
		if v := explicitValue(f, true, x.items[i], item, nulls); !tree.SameRef(v, x.items[i]) {
			if tree.SameRef(out, x.items) {
				out = slices.Clone(x.items)
			}
			out[i] = v
		}
	}
	return out
}
