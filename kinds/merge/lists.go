package merge

import (
	"fmt"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// mergeList merges a patch into a list: by its merge key, as a set of scalars, or, if the kind declares no
// strategy, by replacing it.
//
// With the merge key name, the patch [{"name":"b","image":"new"},{"name":"c"}] makes of the list
// of a and b the list a, b, c, where b has the new image. Where new items go is told at mergeOrder.
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
	if replace || isNew { // as it is, even with the same item twice
		return stripDirectives(items).([]any), nil
	}
	merged, err := g.mergeItems(f, live, items)
	if err != nil {
		return nil, err
	}
	return mergeOrder(merged, f.MergeKey, indexByKey(items, f.MergeKey), indexByKey(live, f.MergeKey)), nil
}

// applyItemDirectives takes the items of a patch that are directives, and carries out the deletions on a
// copy of live. replace tells that the other items replace the list. items are those; where there is a live list to merge them
// into, they are objects and have the merge key.
//
// Deletions come before merges wherever they stand in the patch. An item that is deleted and also given
// anew is so replaced.
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
		v, there := o[f.MergeKey] // null is a key, which no live item has
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

// mergeItems merges each item of the patch with the live item of the same key, or appends it.
//
// An item that is there several times in the patch is merged in several times.
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

// mergePrimitives merges a list of scalars as a set, in the order of the patch where both name a value.
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

// primitiveSet checks a list of scalars, and returns them as a set.
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

// withoutPrimitives is a copy of list without the scalars in gone.
func withoutPrimitives(list []any, gone map[any]bool) []any {
	out := make([]any, 0, len(list))
	for _, v := range list {
		if !gone[itemKey(v, "")] {
			out = append(out, v)
		}
	}
	return out
}

// itemKey is what items of a list are identified by, for use as a key of a Go map: the value of an
// object's merge key, or without a merge key the scalar itself; nil if there is none.
//
// JSON has one type of numbers, so that 1.0 and 1 are the same key. An unusual type, which no decoder
// makes, is compared by its text.
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
