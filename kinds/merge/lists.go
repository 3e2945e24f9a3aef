package merge

import (
	"fmt"

	"github.com/troupe-api/troupe/kinds/schema"
)

// mergeList merges a patch into a list: by its merge key, as a set of scalars, or, with
// no merge strategy, by replacing it.
func mergeList(f *schema.Field, live, patch []any) ([]any, error) {
	if !strategy(f, patchMerge) {
		if err := checkItems(objectOf(f), patch); err != nil {
			return nil, err
		}
		return take(patch).([]any), nil
	}
	if f.MergeKey == "" {
		return unite(live, patch)
	}
	isNew := live == nil
	live, items, replace, err := obeyItems(f, live, patch)
	if err != nil {
		return nil, err
	}
	if replace || isNew { // as it is, be there items twice
		return take(items).([]any), nil
	}
	merged, err := mergeItems(f, live, items)
	if err != nil {
		return nil, err
	}
	return arrange(merged, f.MergeKey, places(items, f.MergeKey), places(live, f.MergeKey)), nil
}

// obeyItems takes the items that are directives out of patch and obeys them: deletions
// from live, which it copies then, and whether the rest replaces the list. The rest are
// objects that have the merge key.
func obeyItems(f *schema.Field, live, patch []any) (left, items []any, replace bool, err error) {
	gone := map[any]bool{}
	for _, item := range patch {
		o, ok := item.(map[string]any)
		if !ok {
			return nil, nil, false, badPatch("invalid patch: items of %s are objects, not %v", f.Name, item)
		}
		if err := checkDeep(f.Message, o); err != nil {
			return nil, nil, false, err
		}
		id := identity(item, f.MergeKey)
		switch o[patchDirective] {
		case patchReplace:
			replace = true // for the whole list; the item itself, if it is one, does not count
			continue
		case patchDelete:
			if id == nil {
				return nil, nil, false, noKey(f)
			}
			gone[id] = true
			continue
		}
		if id == nil && !replace {
			return nil, nil, false, noKey(f)
		}
		items = append(items, item)
	}
	if len(gone) == 0 {
		return live, items, replace, nil
	}
	for _, item := range live {
		if !gone[identity(item, f.MergeKey)] {
			left = append(left, item)
		}
	}
	return left, items, replace, nil
}

func noKey(f *schema.Field) error {
	return badPatch("map: an item of %s does not contain declared merge key: %s", f.Name, f.MergeKey)
}

// mergeItems merges each patch item with the live item of its key, or appends it.
func mergeItems(f *schema.Field, live, items []any) ([]any, error) {
	merged := append(make([]any, 0, len(live)+len(items)), live...)
	at := places(live, f.MergeKey)
	for _, item := range items {
		patch := item.(map[string]any)
		id := identity(item, f.MergeKey)
		i, ok := at[id]
		if !ok {
			at[id] = len(merged)
			merged = append(merged, takeObject(patch))
			continue
		}
		old, _ := merged[i].(map[string]any)
		next, err := mergeObject(f.Message, old, patch)
		if err != nil {
			return nil, err
		}
		merged[i] = next
	}
	return merged, nil
}

// unite merges a list of scalars as a set, in which the patch's order wins.
func unite(live, patch []any) ([]any, error) {
	if _, err := primitives(patch); err != nil || live == nil {
		return patch, err
	}
	all := make([]any, 0, len(live)+len(patch))
	seen := make(map[any]bool, len(live)+len(patch))
	for _, list := range [2][]any{live, patch} {
		for _, v := range list {
			if id := identity(v, ""); id == nil || !seen[id] {
				seen[id] = true
				all = append(all, v)
			}
		}
	}
	return arrange(all, "", places(patch, ""), places(live, "")), nil
}

// primitives checks a list of scalars and returns them as a set.
func primitives(v any) (map[any]bool, error) {
	list, ok := v.([]any)
	if !ok {
		return nil, badPatch("invalid patch format of primitive list")
	}
	set := make(map[any]bool, len(list))
	for _, w := range list {
		id := identity(w, "")
		if id == nil {
			return nil, badPatch("invalid patch format of primitive list")
		}
		set[id] = true
	}
	return set, nil
}

// without is a copy of list without the scalars in gone.
func without(list []any, gone map[any]bool) []any {
	out := make([]any, 0, len(list))
	for _, v := range list {
		if !gone[identity(v, "")] {
			out = append(out, v)
		}
	}
	return out
}

// identity is what tells items of a list apart, ready to be the key of a map: the value
// of an object's merge key, or with no merge key the scalar itself; nil if there is none.
func identity(item any, key string) any {
	if key != "" {
		o, ok := item.(map[string]any)
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
	case nil, map[string]any, []any:
		return nil
	}
	return fmt.Sprint(item)
}
