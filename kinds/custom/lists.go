package custom

import (
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// list checks the elements of a list, each against what it was if it has keys.
func (c *validation) list(n *node, list []any, was before, path string) {
	c.distinct(n, list, path)
	if n.items == nil {
		return
	}
	old := n.byKey(was)
	for i, e := range list {
		c.value(n.items, e, n.past(old, e), rules.At(path, i))
	}
}

// byKey are the elements of the list that there was before, if they have keys.
func (n *node) byKey(was before) map[string]any {
	if !was.there || n.listType != "map" {
		return nil
	}
	items, _ := was.v.([]any)
	old := make(map[string]any, len(items))
	for _, e := range items {
		old[n.identity(e)] = e
	}
	return old
}

// past is what an element was before.
func (n *node) past(old map[string]any, e any) (was before) {
	if old != nil {
		was.v, was.there = old[n.identity(e)]
	}
	return was
}

// distinct checks that a set holds no value, and a map no keys, twice. Each is told of once.
func (c *validation) distinct(n *node, list []any, path string) {
	if n.listType != "set" && n.listType != "map" && !n.unique {
		return
	}
	seen := make(map[string]int, len(list))
	for i, e := range list {
		if keys, ok := n.shown(e).(schema.Tree); n.listType == "map" && (!ok || len(keys) == 0) {
			continue // what is wrong is said elsewhere
		}
		id := n.identity(e)
		if seen[id]++; seen[id] == 2 {
			c.faults.Duplicate(rules.At(path, i), n.shown(e))
		}
	}
}

// identity is what tells an element of a list from others: its keys, or all of it.
func (n *node) identity(e any) string { return string(codec.AppendAny(nil, n.shown(e))) }

// shown is that part of an element.
func (n *node) shown(e any) any {
	t, ok := e.(schema.Tree)
	if n.listType != "map" || !ok {
		return e
	}
	keys := make(schema.Tree, len(n.listKeys))
	for _, name := range n.listKeys {
		v := t[name]
		if v == nil && n.items != nil && n.items.properties[name] != nil {
			v = n.items.properties[name].fill
		}
		if v != nil {
			keys[name] = v
		}
	}
	return keys
}
