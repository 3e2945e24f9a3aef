package merge

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/tree"
)

// A jsonPatcher applies one JSON patch to a tree of nodes, which are created only along the patch's
// pointers (see node). If an operation fails, the nodes are discarded and the object is unchanged.
type jsonPatcher struct {
	root   *node
	budget int // bytes of JSON that copies may still add
	moves  int // list items that may still be shifted
}

func newJSONPatcher(current tree.Tree) *jsonPatcher {
	return &jsonPatcher{root: &node{value: current}, budget: maxCopySize, moves: maxMovedItems}
}

func (p *jsonPatcher) apply(s *parsedOperation) (done bool, err error) {
	done, err = p.carryOut(s)
	if err == nil && p.moves < 0 {
		return false, newTooLarge("a JSON patch may not move items of lists %d times", maxMovedItems)
	}
	return done, err
}

func (p *jsonPatcher) carryOut(s *parsedOperation) (done bool, err error) {
	switch s.op {
	case "add":
		done = p.add(s.path, &node{value: s.value})
	case "replace":
		done = p.replace(s.path, &node{value: s.value})
	case "remove":
		_, done = p.remove(s.path)
	case "test":
		done = p.test(s)
	case "move":
		done = p.move(s)
	case "copy":
		return p.copy(s)
	}
	return done, nil
}

func (p *jsonPatcher) find(path pointer) (*node, bool) {
	n, ok := p.root, true
	for _, token := range path {
		if n, ok = n.child(token); !ok {
			return nil, false
		}
	}
	return n, true
}

func (p *jsonPatcher) parent(path pointer) (n *node, token string, ok bool) {
	last := len(path) - 1
	n, ok = p.find(path[:last])
	return n, path[last], ok
}

func (p *jsonPatcher) add(path pointer, c *node) bool {
	if len(path) == 0 {
		p.root = c
		return true
	}
	n, token, ok := p.parent(path)
	if !ok || !n.add(token, c) {
		return false
	}
	p.countMoves(n, token)
	return true
}

func (p *jsonPatcher) countMoves(n *node, token string) {
	if i, ok := index(token, len(n.items)); n.isList && ok {
		p.moves -= len(n.items) - i
	}
}

// replace sets a value. Unlike RFC 6902 but like Kubernetes 1.37, it also sets absent fields,
// because clients do not check whether the server omitted or defaulted them.
func (p *jsonPatcher) replace(path pointer, c *node) bool {
	if len(path) == 0 {
		p.root = c
		return true
	}
	n, token, ok := p.parent(path)
	return ok && n.set(token, c)
}

func (p *jsonPatcher) remove(path pointer) (*node, bool) {
	if len(path) == 0 {
		return nil, false
	}
	n, token, ok := p.parent(path)
	if !ok {
		return nil, false
	}
	c, ok := n.remove(token)
	if ok {
		p.countMoves(n, token)
	}
	return c, ok
}

// test compares a value. An absent field of an existing object equals null, so clients can test for
// absence.
func (p *jsonPatcher) test(s *parsedOperation) bool {
	if n, ok := p.find(s.path); ok {
		return n.equals(s.value)
	}
	s.absent = true
	if s.value != nil || len(s.path) == 0 {
		return false
	}
	n, _, ok := p.parent(s.path)
	return ok && n.opened && !n.isList
}

// move removes a value and adds it elsewhere, but not into itself. Moving an existing value to its
// own path does nothing.
func (p *jsonPatcher) move(s *parsedOperation) bool {
	if s.path.isBelow(s.from) {
		return false
	}
	if slices.Equal(s.path, s.from) {
		_, ok := p.find(s.path)
		return ok
	}
	n, ok := p.remove(s.from)
	return ok && p.add(s.path, n)
}

// copy copies a value. It limits the size rather than the number of copies, because ten copies of
// the object into itself multiply its size by a thousand.
func (p *jsonPatcher) copy(s *parsedOperation) (done bool, err error) {
	n, ok := p.find(s.from)
	if !ok {
		return false, nil
	}
	if p.budget = n.size(p.budget); p.budget < 0 {
		return false, newTooLarge("the copies of a JSON patch may not exceed %d bytes", maxCopySize)
	}
	return p.add(s.path, &node{value: n.tree()}), nil
}
