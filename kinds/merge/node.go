package merge

import "github.com/troupe-api/troupe/kinds/tree"

// A node is a value of a document that is being patched. It is opened when a pointer first passes
// through it: its children are copied from the shared value into new nodes. A patch therefore
// copies each value on its paths once and shares all others.
type node struct {
	value  any // if not opened
	fields map[string]*node
	items  []*node
	isList bool // if opened: items is in use, not fields
	opened bool
}

// open copies the children of an object or list, with one allocation each, and drops the reference
// to the shared value. It returns false for scalars.
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

// tree returns n as a plain value. An opened node yields a new tree even if nothing has changed, so
// the caller must compare the result with the original.
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

// size subtracts the approximate JSON size of n from budget and returns the rest, or stops once it
// is negative. Brackets count as 2 bytes, keys as 4 plus their length, and numbers as 8.
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

// equals is tree.JSONEqual without building n's tree.
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
