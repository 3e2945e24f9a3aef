package merge

import (
	"fmt"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// mergeList merges a patch into a list, either by its merge key or as a set of scalars. If the kind
// declares no strategy, the patch replaces the list.
//
// With the merge key name, the patch [{"name":"b","image":"new"},{"name":"c"}] turns the list a, b
// into a, b, c, where b has the new image. mergeOrder places new items.
func (g *strategic) mergeList(f *schema.Field, live, patch []any) ([]any, error) {
	if err := g.spend(len(live)); err != nil {
		return nil, err
	}
	if !hasStrategy(f, patchMerge) {
		if err := checkItems(objectOf(f), patch); err != nil {
			return nil, err
		}
		return stripDirectives(patch).([]any), nil
	}
	if f.MergeKey == "" {
		return mergePrimitives(live, patch)
	}
	isNew := live == nil
	live, items, replace, err := applyItemDirectives(f, live, patch)
	if err != nil {
		return nil, err
	}
	if replace || isNew { // taken unchanged, even with duplicate items
		return stripDirectives(items).([]any), nil
	}
	merged, err := g.mergeItems(f, live, items)
	if err != nil {
		return nil, err
	}
	return mergeOrder(merged, f.MergeKey, indexByKey(items, f.MergeKey), indexByKey(live, f.MergeKey)), nil
}

// applyItemDirectives applies the $patch directives in the items of a patch. left is live without
// the items that the patch deletes. items contains the patch items without a directive. If replace
// is true, items replaces the list. Otherwise, items is merged into left, and all of its items are
// objects with the merge key unless live is nil.
//
// Deletions precede merges regardless of their position, so a patch can delete and add an item.
func applyItemDirectives(f *schema.Field, live, patch []any) (left, items []any, replace bool, err error) {
	gone, isNew := map[any]bool{}, live == nil
	for _, item := range patch {
		o, ok := item.(tree.Tree)
		if !ok && isNew {
			items = append(items, item)
			continue
		}
		if !ok {
			return nil, nil, false, newBadPatch("invalid patch: items of %s are objects, not %v", f.Name, item)
		}
		if err := checkDirectivesDeep(f.Message, o); err != nil {
			return nil, nil, false, err
		}
		id := itemKey(item, f.MergeKey)
		v, there := o[f.MergeKey] // null is a key that no live item has
		isKeyed := id != nil || there && v == nil
		switch o[patchDirective] {
		case patchReplace:
			replace = true // the whole list; the rest of this item is ignored
			continue
		case patchDelete:
			if !isKeyed {
				return nil, nil, false, newMissingMergeKey(f)
			}
			gone[id] = true
			continue
		}
		if !isKeyed && !replace && !isNew {
			return nil, nil, false, newMissingMergeKey(f)
		}
		items = append(items, item)
	}
	if len(gone) == 0 {
		return live, items, replace, nil
	}
	for _, item := range live {
		if id := itemKey(item, f.MergeKey); id == nil || !gone[id] {
			left = append(left, item)
		}
	}
	return left, items, replace, nil
}

func newMissingMergeKey(f *schema.Field) error {
	return newBadPatch("map: an item of %s does not contain declared merge key: %s", f.Name, f.MergeKey)
}

// mergeItems merges each item of the patch into the live item with the same key, or appends it.
// Repeated items are merged each time.
func (g *strategic) mergeItems(f *schema.Field, live, items []any) ([]any, error) {
	merged := append(make([]any, 0, len(live)+len(items)), live...)
	at := indexByKey(live, f.MergeKey)
	for _, item := range items {
		patch := item.(tree.Tree)
		id := itemKey(item, f.MergeKey)
		i, ok := at[id]
		if !ok {
			at[id] = len(merged)
			merged = append(merged, stripObjectDirectives(patch))
			continue
		}
		old, _ := merged[i].(tree.Tree)
		next, err := g.mergeObject(f.Message, old, patch)
		if err != nil {
			return nil, err
		}
		merged[i] = next
	}
	return merged, nil
}

// mergePrimitives merges lists of scalars as sets. Values in both lists follow the order of the
// patch.
func mergePrimitives(live, patch []any) ([]any, error) {
	if _, err := primitiveSet(patch); err != nil || live == nil {
		return patch, err
	}
	all := make([]any, 0, len(live)+len(patch))
	seen := make(map[any]bool, len(live)+len(patch))
	for _, list := range [2][]any{live, patch} {
		for _, v := range list {
			if id := itemKey(v, ""); id == nil || !seen[id] {
				seen[id] = true
				all = append(all, v)
			}
		}
	}
	return mergeOrder(all, "", indexByKey(patch, ""), indexByKey(live, "")), nil
}

func primitiveSet(v any) (map[any]bool, error) {
	list, ok := v.([]any)
	if !ok {
		return nil, newBadPatch("invalid patch format of primitive list")
	}
	set := make(map[any]bool, len(list))
	for _, w := range list {
		id := itemKey(w, "")
		if id == nil {
			return nil, newBadPatch("invalid patch format of primitive list")
		}
		set[id] = true
	}
	return set, nil
}

func withoutPrimitives(list []any, gone map[any]bool) []any {
	out := make([]any, 0, len(list))
	for _, v := range list {
		if !gone[itemKey(v, "")] {
			out = append(out, v)
		}
	}
	return out
}

// itemKey returns the identity of a list item as a Go map key: the value of the merge key or,
// without one, the scalar itself. It returns nil for null, objects and lists.
func itemKey(item any, key string) any {
	if key != "" {
		o, ok := item.(tree.Tree)
		if !ok {
			return nil
		}
		item = o[key]
	}
	switch v := item.(type) {
	case string, bool, int64:
		return v
	case float64:
		if i := int64(v); float64(i) == v {
			return i
		}
		return v
	case nil, tree.Tree, []any:
		return nil
	}
	return fmt.Sprint(item)
}
