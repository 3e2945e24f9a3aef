package rbac

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/authn"
)

// An index maps subjects to their grants. It is safe for concurrent use.
type index struct {
	mu            sync.RWMutex // guards the fields below and the contents of role entries
	users, groups map[string]*subjectGrants
	bindings      map[namespacedName]*binding
	roles         map[namespacedName]*roleEntry
	// generation counts changes to the fields above. It is read without the lock.
	generation atomic.Uint64
}

// A roleEntry holds the role to which bindings of this name refer. role is nil while the Role or
// ClusterRole does not exist.
type roleEntry struct {
	namespacedName
	role         *role
	bindingCount int // number of bindings that refer to the role
}

type subjectGrants struct {
	cluster     []*grant
	byNamespace map[string][]*grant
}

func newIndex() *index {
	return &index{
		users: map[string]*subjectGrants{}, groups: map[string]*subjectGrants{},
		bindings: map[namespacedName]*binding{}, roles: map[namespacedName]*roleEntry{},
	}
}

// handleRole updates a role. It compiles the rules before it takes the lock, so that a large role
// does not delay decisions.
func (x *index) handleRole(c policy.Change) {
	var compiled *role
	if !c.Deleted {
		compiled = newRole(newRules(c.Tree))
	}
	at := namespacedName{c.Key.Namespace, c.Key.Name}
	x.mu.Lock()
	defer x.mu.Unlock()
	entry := x.roleEntry(at)
	entry.role = compiled
	x.generation.Add(1)
	x.dropUnused(entry)
}

// roleEntry returns a role's entry. It creates a missing entry, because a binding may arrive before
// its role. The caller holds the lock, as for all methods below.
func (x *index) roleEntry(at namespacedName) *roleEntry {
	c := x.roles[at]
	if c == nil {
		c = &roleEntry{namespacedName: at}
		x.roles[at] = c
	}
	return c
}

func (x *index) dropUnused(c *roleEntry) {
	if c.role == nil && c.bindingCount == 0 {
		delete(x.roles, c.namespacedName)
	}
}

// handleBinding updates the index. It replaces the whole binding, because comparing the subjects
// would save little.
func (x *index) handleBinding(c policy.Change) {
	var now *binding
	if !c.Deleted {
		now = newBinding(c.Object)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	at := namespacedName{c.Key.Namespace, c.Key.Name}
	if before := x.bindings[at]; before != nil {
		delete(x.bindings, at)
		x.unbind(before)
	}
	if now != nil {
		x.bindings[namespacedName{now.namespace, now.name}] = now
		x.bind(now)
	}
	x.generation.Add(1)
}

// bind adds the grants of a binding. Their order determines only which binding a decision's reason
// names.
func (x *index) bind(b *binding) {
	c := x.roleEntry(b.role)
	c.bindingCount++
	for _, g := range b.grants {
		g.entry = c
		of := x.grantsByName(g.subject)
		held := of[g.subject.name]
		if held == nil {
			held = &subjectGrants{}
			of[g.subject.name] = held
		}
		held.add(g)
	}
}

// unbind removes a binding's grants, and then subjects without grants.
func (x *index) unbind(b *binding) {
	for _, g := range b.grants {
		of := x.grantsByName(g.subject)
		held := of[g.subject.name]
		held.remove(g)
		if len(held.cluster) == 0 && len(held.byNamespace) == 0 {
			delete(of, g.subject.name)
		}
	}
	c := x.roles[b.role]
	c.bindingCount--
	x.dropUnused(c)
}

func (x *index) grantsByName(s subject) map[string]*subjectGrants {
	if s.group {
		return x.groups
	}
	return x.users
}

func (s *subjectGrants) add(g *grant) {
	if g.namespace == "" {
		s.cluster = append(s.cluster, g)
		return
	}
	if s.byNamespace == nil {
		s.byNamespace = map[string][]*grant{}
	}
	s.byNamespace[g.namespace] = append(s.byNamespace[g.namespace], g)
}

// remove removes a grant. It compares grants by address, because two bindings may grant the same
// role to the same subject.
func (s *subjectGrants) remove(g *grant) {
	same := func(other *grant) bool { return other == g }
	if g.namespace == "" {
		s.cluster = slices.DeleteFunc(s.cluster, same)
		return
	}
	if left := slices.DeleteFunc(s.byNamespace[g.namespace], same); len(left) > 0 {
		s.byNamespace[g.namespace] = left
	} else {
		delete(s.byNamespace, g.namespace)
	}
}

// subjectGrants returns the grants of the user if i is 0, and otherwise of group i-1. Callers
// iterate over i to avoid allocating a list of subjects.
func (x *index) subjectGrants(user *authn.User, i int) *subjectGrants {
	if i == 0 {
		return x.users[user.Name]
	}
	return x.groups[user.Groups[i-1]]
}
