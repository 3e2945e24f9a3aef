package custom

import (
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/tree"
)

// list checks the elements of a list, each against what it was if it has keys.
func (c *validator) list(n *node, list []any, was oldValue, path string) {
	c.unique(n, list, path)
	if n.items == nil {
		return
	}
	old := n.itemsByKey(was)
	for i, e := range list {
		c.value(n.items, e, n.oldItem(old, e), tree.IndexPath(path, i))
	}
}

// itemsByKey are the elements of the list that there was before, if they have keys.
func (n *node) itemsByKey(was oldValue) map[string]any {
	if !was.exists || n.listType != "map" {
		return nil
	}
	items, _ := was.value.([]any)
	old := make(map[string]any, len(items))
	for _, e := range items {
		old[n.itemKey(e)] = e
	}
	return old
}

// oldItem is what an element was before.
func (n *node) oldItem(old map[string]any, e any) (was oldValue) {
	if old != nil {
		was.value, was.exists = old[n.itemKey(e)]
	}
	return was
}

// unique checks that a set holds no value, and a map no keys, twice. Each is told of once.
func (c *validator) unique(n *node, list []any, path string) {
	if n.listType != "set" && n.listType != "map" && !n.unique {
		return
	}
	seen := make(map[string]int, len(list))
	for i, e := range list {
		if keys, ok := n.keyFields(e).(tree.Tree); n.listType == "map" && (!ok || len(keys) == 0) {
			continue // what is wrong is said elsewhere
		}
		id := n.itemKey(e)
		if seen[id]++; seen[id] == 2 {
			c.faults.Duplicate(tree.IndexPath(path, i), n.keyFields(e))
		}
	}
}

// itemKey is what tells an element of a list from others: its keys, or all of it.
func (n *node) itemKey(e any) string { return string(codec.AppendAny(nil, n.keyFields(e))) }

// keyFields is that part of an element.
func (n *node) keyFields(e any) any {
	t, ok := e.(tree.Tree)
	if n.listType != "map" || !ok {
		return e
	}
	keys := make(tree.Tree, len(n.listKeys))
	for _, name := range n.listKeys {
		v := t[name]
		if v == nil && n.items != nil && n.items.properties[name] != nil {
			v = n.items.properties[name].defaultValue
		}
		if v != nil {
			keys[name] = v
		}
	}
	return keys
}
