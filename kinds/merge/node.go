package merge

import "github.com/troupe-api/troupe/kinds/tree"

// A node is one value of a document while it is being patched. It is opened when a pointer first goes
// through it: only then are its children copied out of the shared value, and from then on the node owns
// them. So a patch copies each object or list on its way once, however many operations it has, and what
// stays closed stays shared.
type node struct {
	value  any // when closed
	fields map[string]*node
	items  []*node
	isList bool // when open: items hold, not fields
	opened bool
}

// open opens n. It returns whether n is an object or a list at all.
//
// All children are allocated at once, and the value is let go: from here on the node is the truth.
func (n *node) open() bool {
	if n.opened {
		return true
	}
	switch v := n.value.(type) {
	case tree.Tree:
		n.fields = make(map[string]*node, len(v)+1)
		nodes := make([]node, len(v))
		i := 0
		for k, w := range v {
			nodes[i].value = w
			n.fields[k] = &nodes[i]
			i++
		}
	case []any:
		n.isList = true
		n.items = make([]*node, len(v), len(v)+1)
		nodes := make([]node, len(v))
		for i, w := range v {
			nodes[i].value = w
			n.items[i] = &nodes[i]
		}
	default:
		return false
	}
	n.opened, n.value = true, nil
	return true
}

// child finds the direct child that a token of a pointer names.
func (n *node) child(token string) (*node, bool) {
	if !n.open() {
		return nil, false
	}
	if !n.isList {
		c, ok := n.fields[token]
		return c, ok
	}
	i, ok := index(token, len(n.items))
	if !ok {
		return nil, false
	}
	return n.items[i], true
}

// add sets a field, or inserts an item before the one that token names ("-" is the end).
func (n *node) add(token string, c *node) bool {
	if !n.open() {
		return false
	}
	if !n.isList {
		n.fields[token] = c
		return true
	}
	i, ok := len(n.items), true
	if token != "-" {
		i, ok = index(token, len(n.items)+1)
	}
	if !ok {
		return false
	}
	n.items = append(n.items, nil)
	copy(n.items[i+1:], n.items[i:])
	n.items[i] = c
	return true
}

// set sets a field, or replaces an item that is there.
func (n *node) set(token string, c *node) bool {
	if !n.open() {
		return false
	}
	if !n.isList {
		n.fields[token] = c
		return true
	}
	i, ok := index(token, len(n.items))
	if ok {
		n.items[i] = c
	}
	return ok
}

// remove takes a child out and returns it.
func (n *node) remove(token string) (*node, bool) {
	c, ok := n.child(token)
	if !ok {
		return nil, false
	}
	if !n.isList {
		delete(n.fields, token)
		return c, true
	}
	i, _ := index(token, len(n.items))
	n.items = append(n.items[:i], n.items[i+1:]...)
	return c, true
}

// tree is the value of n as a plain value; what was never opened is shared.
//
// The tree is new wherever a pointer has led, even if the operations have left it equal: equality is the
// matter of later stages.
func (n *node) tree() any {
	if !n.opened {
		return n.value
	}
	if n.isList {
		out := make([]any, len(n.items))
		for i, c := range n.items {
			out[i] = c.tree()
		}
		return out
	}
	out := make(tree.Tree, len(n.fields))
	for k, c := range n.fields {
		out[k] = c.tree()
	}
	return out
}

// size subtracts about the length of n as JSON from budget, and stops when that is below zero.
//
// It need not be exact, as it bounds memory: brackets count 2, a key 4 beside its length, a number 8.
func (n *node) size(budget int) int {
	if !n.opened {
		return sizeOf(n.value, budget)
	}
	budget -= 2
	for _, c := range n.items {
		if budget < 0 {
			return budget
		}
		budget = c.size(budget - 1)
	}
	for k, c := range n.fields {
		if budget < 0 {
			return budget
		}
		budget = c.size(budget - len(k) - 4)
	}
	return budget
}

// sizeOf is size for a plain value.
func sizeOf(v any, budget int) int {
	switch v := v.(type) {
	case string:
		return budget - len(v) - 2
	case []any:
		budget -= 2
		for _, w := range v {
			if budget < 0 {
				return budget
			}
			budget = sizeOf(w, budget-1)
		}
		return budget
	case tree.Tree:
		budget -= 2
		for k, w := range v {
			if budget < 0 {
				return budget
			}
			budget = sizeOf(w, budget-len(k)-4)
		}
		return budget
	}
	return budget - 8
}

// equals is tree.JSONEqual of n and a plain value, without building a tree.
func (n *node) equals(v any) bool {
	if !n.opened {
		return tree.JSONEqual(n.value, v)
	}
	if n.isList {
		items, ok := v.([]any)
		if !ok || len(items) != len(n.items) {
			return false
		}
		for i, c := range n.items {
			if !c.equals(items[i]) {
				return false
			}
		}
		return true
	}
	fields, ok := v.(tree.Tree)
	if !ok || len(fields) != len(n.fields) {
		return false
	}
	for k, c := range n.fields {
		w, ok := fields[k]
		if !ok || !c.equals(w) {
			return false
		}
	}
	return true
}
