package merge

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/tree"
)

// A jsonPatcher applies one JSON patch.
//
// It works on a tree of nodes, which are made where pointers lead (see node). If an operation fails the
// nodes are dropped, and the object is as it was: so a patch is applied as a whole or not at all.
type jsonPatcher struct {
	root   *node
	budget int // bytes of JSON that copies may still add
	moves  int // items of lists that may still be moved by a place
}

func newJSONPatcher(current tree.Tree) *jsonPatcher {
	return &jsonPatcher{root: &node{value: current}, budget: maxCopySize, moves: maxMovedItems}
}

// apply carries out one operation; done is false if it cannot be carried out.
func (p *jsonPatcher) apply(s *parsedOperation) (done bool, err error) {
	done, err = p.carryOut(s)
	if err == nil && p.moves < 0 {
		return false, newTooLarge("a JSON patch may not move items of lists %d times", maxMovedItems)
	}
	return done, err
}

// carryOut is apply without a look at how much has been moved.
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

// find walks to the node that path names.
func (p *jsonPatcher) find(path pointer) (*node, bool) {
	n, ok := p.root, true
	for _, token := range path {
		if n, ok = n.child(token); !ok {
			return nil, false
		}
	}
	return n, true
}

// parent is the node that holds the target of path, and the target's token in it.
func (p *jsonPatcher) parent(path pointer) (n *node, token string, ok bool) {
	last := len(path) - 1
	n, ok = p.find(path[:last])
	return n, path[last], ok
}

// add puts c at path; an empty path is the whole document.
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

// countMoves counts the items of a list behind one that has come or gone.
func (p *jsonPatcher) countMoves(n *node, token string) {
	if i, ok := index(token, len(n.items)); n.isList && ok {
		p.moves -= len(n.items) - i
	}
}

// replace puts c in the place of a value. It differs from add in lists, where add inserts.
//
// A field that is not there is set, against RFC 6902: clients of release 1.35, which does so, replace what has a default or may
// be empty without looking first.
func (p *jsonPatcher) replace(path pointer, c *node) bool {
	if len(path) == 0 {
		p.root = c
		return true
	}
	n, token, ok := p.parent(path)
	return ok && n.set(token, c)
}

// remove takes out the value at path. The whole document cannot be removed.
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

// test compares. Clients test for null to make sure that nothing is there, so an absent target equals null
// as long as its parent exists.
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

// move takes a value out and adds it elsewhere, which may not be inside of itself. A move to where the
// value is changes nothing, but the value must exist.
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

// copy adds a copy of a value, as long as the budget allows it.
//
// The budget counts the size of what is copied, not the number of copies: ten operations that copy the
// whole object into itself make it a thousand times as large.
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
