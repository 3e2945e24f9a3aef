package merge

import "slices"

// patching is one JSON patch at work.
type patching struct {
	root   *node
	budget int // bytes that copies may still make
}

// apply carries out one operation; done is false if it cannot be.
func (p *patching) apply(s *step) (done bool, err error) {
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
func (p *patching) find(path pointer) (*node, bool) {
	n, ok := p.root, true
	for _, token := range path {
		if n, ok = n.child(token); !ok {
			return nil, false
		}
	}
	return n, true
}

// parent is the node that holds the target of path, and the target's token in it.
func (p *patching) parent(path pointer) (n *node, token string, ok bool) {
	last := len(path) - 1
	n, ok = p.find(path[:last])
	return n, path[last], ok
}

func (p *patching) add(path pointer, c *node) bool {
	if len(path) == 0 {
		p.root = c
		return true
	}
	n, token, ok := p.parent(path)
	return ok && n.add(token, c)
}

func (p *patching) replace(path pointer, c *node) bool {
	if len(path) == 0 {
		p.root = c
		return true
	}
	n, token, ok := p.parent(path)
	return ok && n.set(token, c)
}

func (p *patching) remove(path pointer) (*node, bool) {
	if len(path) == 0 {
		return nil, false
	}
	n, token, ok := p.parent(path)
	if !ok {
		return nil, false
	}
	return n.remove(token)
}

// test compares. Clients test for null to say that nothing may be there, so an absent
// target equals null as long as its parent exists.
func (p *patching) test(s *step) bool {
	if n, ok := p.find(s.path); ok {
		return n.equals(s.value)
	}
	if s.value != nil || len(s.path) == 0 {
		return false
	}
	n, _, ok := p.parent(s.path)
	return ok && n.open && !n.list
}

func (p *patching) move(s *step) bool {
	if s.path.within(s.from) {
		return false
	}
	if slices.Equal(s.path, s.from) {
		_, ok := p.find(s.path)
		return ok
	}
	n, ok := p.remove(s.from)
	return ok && p.add(s.path, n)
}

func (p *patching) copy(s *step) (done bool, err error) {
	n, ok := p.find(s.from)
	if !ok {
		return false, nil
	}
	if p.budget = n.size(p.budget); p.budget < 0 {
		return false, tooLarge("the copies of a JSON patch may not exceed %d bytes", maxCopied)
	}
	return p.add(s.path, &node{value: n.tree()}), nil
}
