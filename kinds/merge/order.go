package merge

import (
	"cmp"
	"slices"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// indexByKey is the index at which each key first occurs in a list.
func indexByKey(list []any, key string) map[any]int {
	at := make(map[any]int, len(list))
	for i, item := range list {
		id := itemKey(item, key)
		if _, ok := at[id]; id != nil && !ok {
			at[id] = i
		}
	}
	return at
}

// mergeOrder orders a merged list. Items that the patch names keep the order of the patch, the others that
// of the live list. Where both meet, an item that the patch does not name comes first only if it came
// before the other one in the live list; so new items come before all live ones.
//
// For the live list a, b and a patch that names b and a new c, in this order, the result is a, b, c; for
// one that names only c, it is c, a, b. Other servers of this API order in the same way, and clients depend
// on it: the order of containers and of environment variables has a meaning.
func mergeOrder(merged []any, key string, patchOrder, liveOrder map[any]int) []any {
	var named, others []any
	for _, item := range merged {
		if _, ok := patchOrder[itemKey(item, key)]; ok {
			named = append(named, item)
		} else {
			others = append(others, item)
		}
	}
	by := func(order map[any]int) func(a, b any) int {
		return func(a, b any) int {
			return cmp.Compare(order[itemKey(a, key)], order[itemKey(b, key)])
		}
	}
	slices.SortStableFunc(named, by(patchOrder))
	slices.SortStableFunc(others, by(liveOrder))
	out := make([]any, 0, len(merged))
	for len(named) > 0 && len(others) > 0 {
		o, oLive := liveOrder[itemKey(others[0], key)]
		n, nLive := liveOrder[itemKey(named[0], key)]
		if oLive && nLive && o < n {
			out, others = append(out, others[0]), others[1:]
		} else {
			out, named = append(out, named[0]), named[1:]
		}
	}
	return append(append(out, named...), others...)
}

// setElementOrder carries out a $setElementOrder directive: it sorts the list of that field in out. Lists
// that are replaced as a whole have no order to set.
//
// kubectl sends the directive with each list that it patches, since otherwise a patch could not move an
// item. The items of the list itself must not contradict it.
func setElementOrder(f *schema.Field, name string, wanted any, current, out, patch tree.Tree) error {
	order, ok := wanted.([]any)
	if !ok {
		return newBadPatch("invalid patch format of setElementOrder list")
	}
	if !hasStrategy(f, patchMerge) {
		return nil
	}
	for _, item := range order {
		if itemKey(item, f.MergeKey) == nil {
			return newBadPatch("invalid patch format of setElementOrder list")
		}
	}
	at := indexByKey(order, f.MergeKey)
	if items, ok := patch[name].([]any); ok && !matchesOrder(items, f.MergeKey, at) {
		return newBadPatch("The order in patch list of %s doesn't match $setElementOrder list", name)
	}
	if merged, ok := out[name].([]any); ok {
		live, _ := current[name].([]any)
		out[name] = mergeOrder(merged, f.MergeKey, at, indexByKey(live, f.MergeKey))
	}
	return nil
}

// matchesOrder tells whether the items of a patch, apart from directives, are all in the wanted order.
func matchesOrder(items []any, key string, order map[any]int) bool {
	last := -1
	for _, item := range items {
		if o, ok := item.(tree.Tree); ok && (o[patchDirective] == patchDelete || o[patchDirective] == patchReplace) {
			continue
		}
		i, ok := order[itemKey(item, key)]
		if !ok || i < last {
			return false
		}
		last = i
	}
	return true
}
