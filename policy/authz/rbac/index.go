package rbac

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/authn"
)

// An index finds what is granted to a user. It may be used by many goroutines.
type index struct {
	mu sync.RWMutex // guards all below it, but not what grants, bindings and roles hold
	// users and groups find the grants of a subject.
	users, groups map[string]*grants
	// bindings are those of the cluster and of all namespaces.
	bindings map[place]*binding
	cells    map[place]*cell
	// changes counts those of all above. It is read without the lock.
	changes atomic.Uint64
}

// A cell holds a role, or nothing while there is none of its name. Grants point to it.
type cell struct {
	place
	role     *role
	bindings int // that refer to it
}

// grants are those of one subject.
type grants struct {
	cluster     []*grant
	inNamespace map[string][]*grant
}

func newIndex() *index {
	return &index{
		users: map[string]*grants{}, groups: map[string]*grants{},
		bindings: map[place]*binding{}, cells: map[place]*cell{},
	}
}

// seeRole takes in what has become of a role.
func (x *index) seeRole(c policy.Change) {
	var compiled *role
	if !c.Gone {
		compiled = newRole(newRules(c.Tree))
	}
	at := place{strings.Clone(c.Key.Namespace), strings.Clone(c.Key.Name)}
	x.mu.Lock()
	defer x.mu.Unlock()
	held := x.cell(at)
	held.role = compiled
	x.changes.Add(1)
	x.drop(held)
}

// cell must be called with the lock held, as all below it.
func (x *index) cell(at place) *cell {
	c := x.cells[at]
	if c == nil {
		c = &cell{place: at}
		x.cells[at] = c
	}
	return c
}

// drop forgets a cell that nothing needs.
func (x *index) drop(c *cell) {
	if c.role == nil && c.bindings == 0 {
		delete(x.cells, c.place)
	}
}

// seeBinding takes in what has become of a binding.
func (x *index) seeBinding(c policy.Change) {
	var now *binding
	if !c.Gone {
		now = newBinding(c.Object)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	at := placeOf(c.Key)
	if before := x.bindings[at]; before != nil {
		delete(x.bindings, at)
		x.unbind(before)
	}
	if now != nil {
		x.bindings[place{now.namespace, now.name}] = now
		x.bind(now)
	}
	x.changes.Add(1)
}

func (x *index) bind(b *binding) {
	c := x.cell(b.role)
	c.bindings++
	for _, g := range b.grants {
		g.cell = c
		of := x.of(g.subject)
		held := of[g.subject.name]
		if held == nil {
			held = &grants{}
			of[g.subject.name] = held
		}
		held.add(g)
	}
}

func (x *index) unbind(b *binding) {
	for _, g := range b.grants {
		of := x.of(g.subject)
		held := of[g.subject.name]
		held.remove(g)
		if len(held.cluster) == 0 && len(held.inNamespace) == 0 {
			delete(of, g.subject.name)
		}
	}
	c := x.cells[b.role]
	c.bindings--
	x.drop(c)
}

func (x *index) of(s subject) map[string]*grants {
	if s.group {
		return x.groups
	}
	return x.users
}

func (s *grants) add(g *grant) {
	if g.namespace == "" {
		s.cluster = append(s.cluster, g)
		return
	}
	if s.inNamespace == nil {
		s.inNamespace = map[string][]*grant{}
	}
	s.inNamespace[g.namespace] = append(s.inNamespace[g.namespace], g)
}

func (s *grants) remove(g *grant) {
	same := func(other *grant) bool { return other == g }
	if g.namespace == "" {
		s.cluster = slices.DeleteFunc(s.cluster, same)
		return
	}
	if left := slices.DeleteFunc(s.inNamespace[g.namespace], same); len(left) > 0 {
		s.inNamespace[g.namespace] = left
	} else {
		delete(s.inNamespace, g.namespace)
	}
}

// held is what is granted to a user under its name, for i 0, and under that of group i-1; nil
// if nothing is.
func (x *index) held(user *authn.User, i int) *grants {
	if i == 0 {
		return x.users[user.Name]
	}
	return x.groups[user.Groups[i-1]]
}
