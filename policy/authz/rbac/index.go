package rbac

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/authn"
)

// An index finds what is granted to a user. It may be used by many goroutines.
type index struct {
	mu sync.RWMutex // guards all below it, but not what grants, bindings and roles hold
	// users and groups find the grants of a subject.
	users, groups map[string]*subjectGrants
	// bindings are those of the cluster and of all namespaces.
	bindings map[namespacedName]*binding
	roles    map[namespacedName]*roleEntry
	// generation counts those of all above. It is read without the lock.
	generation atomic.Uint64
}

// A roleEntry holds a role, or nothing while there is none of its name. Grants point to it.
type roleEntry struct {
	namespacedName
	role         *role
	bindingCount int // that refer to it
}

// subjectGrants are those of one subject.
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

// handleRole takes in what has become of a role.
//
// The rules are compiled before the lock is taken. Readers hold it while they decide, and a large role must not hold
// them up.
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

// roleEntry must be called with the lock held, as all below it.
//
// It makes an empty entry where there is none, so that a binding can point to a role that comes later.
func (x *index) roleEntry(at namespacedName) *roleEntry {
	c := x.roles[at]
	if c == nil {
		c = &roleEntry{namespacedName: at}
		x.roles[at] = c
	}
	return c
}

// dropUnused forgets a cell that nothing needs.
func (x *index) dropUnused(c *roleEntry) {
	if c.role == nil && c.bindingCount == 0 {
		delete(x.roles, c.namespacedName)
	}
}

// handleBinding takes in what has become of a binding.
//
// The old binding is taken out as a whole and the new one put in: comparing their subjects would save little and
// could leave a grant behind.
func (x *index) handleBinding(c policy.Change) {
	var now *binding
	if !c.Deleted {
		now = newBinding(c.Object)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	at := namespacedNameOf(c.Key)
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

// The order among the grants of a subject is that in which their bindings came. It decides nothing but which binding
// a reason names.
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

// A subject without grants is taken out of its map, so that the index never holds more than the bindings that exist.
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

// A grant is found by its address: two bindings of one role to one subject are two grants.
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

// subjectGrants is what is granted to a user under its name, for i 0, and under that of group i-1; nil
// if nothing is.
//
// The user and the groups are one sequence, so that callers need one loop and no list that would have to be allocated
// for each decision.
func (x *index) subjectGrants(user *authn.User, i int) *subjectGrants {
	if i == 0 {
		return x.users[user.Name]
	}
	return x.groups[user.Groups[i-1]]
}
