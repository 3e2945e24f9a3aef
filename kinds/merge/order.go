package merge

import (
	"cmp"
	"slices"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

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

// mergeOrder orders a merged list. Items in the patch keep the patch order, and others keep the
// live order. An item that is not in the patch precedes a patch item only if it also does in the
// live list. New items are not in the live list, so they come as early as possible.
//
// For the live list a, b and a patch with b and a new c, the result is a, b, c. For a patch with
// only c, the result is c, a, b. Clients depend on this order of kube-apiserver.
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

// setElementOrder applies a $setElementOrder directive to its list in out, unless the list is
// atomic. kubectl sends this directive for each list, because a patch alone cannot move items.
// Items in the patch must be in the directive's order.
func (g *strategic) setElementOrder(f *schema.Field, name string, wanted any, current, out, patch tree.Tree) error {
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
	if items, ok := patch[name].([]any); ok && !matchesOrder(items, order, f.MergeKey) {
		return newBadPatch("The order in patch list of %s doesn't match $setElementOrder list", name)
	}
	if merged, ok := out[name].([]any); ok {
		live, _ := current[name].([]any)
		if err := g.spend(len(live) + len(merged)); err != nil {
			return err
		}
		items, _ := patch[name].([]any)
		out[name] = mergeOrder(merged, f.MergeKey, at, orderAfterDeletions(live, items, f.MergeKey))
	}
	return nil
}

// matchesOrder reports whether the items of a patch, except directives, are in the given order. If
// the patch repeats an item, the order must repeat it too.
func matchesOrder(items, order []any, key string) bool {
	if len(order) == 0 {
		return true
	}
	next := 0
	for _, item := range items {
		if o, ok := item.(tree.Tree); ok && o[patchDirective] != nil {
			continue
		}
		id := itemKey(item, key)
		for next < len(order) && itemKey(order[next], key) != id {
			next++
		}
		if next == len(order) {
			return false
		}
		next++
	}
	return true
}

// orderAfterDeletions returns the live positions for mergeOrder. New items use the positions that
// deletions free at the end. For example, if a patch of the live list a, b deletes b and adds c,
// the order is a, c.
func orderAfterDeletions(live, patch []any, key string) map[any]int {
	gone := map[any]bool{}
	for _, item := range patch {
		if o, ok := item.(tree.Tree); ok && o[patchDirective] == patchDelete {
			gone[itemKey(item, key)] = true
		}
	}
	left := live
	if len(gone) > 0 {
		left = slices.DeleteFunc(slices.Clone(live), func(item any) bool { return gone[itemKey(item, key)] })
	}
	at, next := indexByKey(left, key), len(left)
	for _, item := range patch {
		o, _ := item.(tree.Tree)
		id := itemKey(item, key)
		if _, ok := at[id]; ok || id == nil || o[patchDirective] != nil || next == len(live) {
			continue
		}
		at[id] = next
		next++
	}
	return at
}
