package quota

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/amount"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy"
)

type spec struct {
	name, uid string
	hard      amount.List // sorted by name
	scopes    []requirement
}

func parseSpec(o *policy.Object) spec {
	from := o.Tree.Object("spec")
	s := spec{name: o.Key.Name, uid: o.Meta.UID, scopes: requirements(from.Strings("scopes"), from.Object("scopeSelector").Objects("matchExpressions"))}
	hard := from.Object("hard")
	for _, name := range hard.SortedKeys() {
		s.hard = append(s.hard, amount.Named{Name: name, Amount: amount.Read(hard.String(name))})
	}
	return s
}

// countsAlike reports whether two specs differ only in the amounts of their limits. Such specs
// count the same usage, so the new limits apply without another scan.
func (s *spec) countsAlike(o *spec) bool {
	return s.name == o.name && s.uid == o.uid && slices.EqualFunc(s.scopes, o.scopes, requirement.equal) &&
		slices.EqualFunc(s.hard, o.hard, func(a, b amount.Named) bool { return a.Name == b.Name })
}

// An account holds the usage of one version of a quota. The namespace's mutex guards its mutable
// fields.
type account struct {
	spec                                 // immutable, except the amounts of hard
	covers map[meta.GroupResource]*cover // immutable

	used []amount.Amount // usage of published objects, in the order of hard
	held []amount.Amount // amounts held by reservations, in the order of hard
	// scanning is true while a scan computes used. During the scan, published changes are queued in
	// unapplied.
	scanning  bool
	unapplied []unapplied
	gone      map[string]bool // UIDs of terminating Pods that were removed during the scan
	// An enforced account rejects changes that exceed a limit. A retired account was replaced, or
	// its quota was deleted. An unknown account, whose scan failed, rejects all changes that
	// increase usage.
	enforced, retired, unknown bool
	// deleted is true if the quota was deleted. The account then rejects no changes, and the
	// follower retires it later.
	deleted bool
	// lapsed holds the UIDs of terminating Pods that had stopped counting when the account was
	// opened. It is immutable.
	lapsed map[string]bool
	freed  chan struct{} // closed when amounts are released; nil without waiters
}

// A cover holds an account's limits, such as requests.cpu, for objects of one resource. It is
// immutable.
type cover struct {
	account   *account
	resource  meta.GroupResource
	evaluator *evaluator
	indexes   []int // indexes into hard
	// decodes is true if the usage depends on object content, because of scopes or of limits other
	// than object counts.
	decodes bool
}

// A delta is a change in usage that counts toward the limit hard[index].
type delta struct {
	index  int
	amount amount.Amount
}

type unapplied struct {
	resource meta.GroupResource
	version  uint64
	deltas   []delta
}

// open returns a new account for a quota. It adds each limit to the covers of all resources to
// which the limit applies.
func (e evaluators) open(s spec) *account {
	a := &account{
		spec: s, covers: map[meta.GroupResource]*cover{}, scanning: true, gone: map[string]bool{},
		used: make([]amount.Amount, len(s.hard)), held: make([]amount.Amount, len(s.hard)),
	}
	for i, limit := range s.hard {
		for resource, evaluator := range e {
			if evaluator.covers(limit.Name) {
				a.cover(resource, evaluator, i)
			}
		}
		if resource, ok := countedResource(limit.Name); ok && e[resource] == nil {
			a.cover(resource, e.of(resource), i)
		}
	}
	return a
}

// cover adds the limit at index to the resource's cover. A quota with scopes does not apply to
// resources without scopes.
func (a *account) cover(resource meta.GroupResource, e *evaluator, index int) {
	if e == nil || len(a.scopes) > 0 && e.inScope == nil {
		return
	}
	c := a.covers[resource]
	if c == nil {
		c = &cover{account: a, resource: resource, evaluator: e, decodes: len(a.scopes) > 0}
		a.covers[resource] = c
	}
	c.indexes = append(c.indexes, index)
	c.decodes = c.decodes || !slices.Contains(e.counts, a.hard[index].Name)
}

// uses returns the usage of an object as deltas. A lapsed Pod counts only toward object counts.
func (c *cover) uses(object tree.Tree, lapsed bool) []delta {
	if object == nil || !c.evaluator.matches(c.account.scopes, object) {
		return nil
	}
	e := c.evaluator
	if lapsed || !c.decodes {
		e = &evaluator{counts: e.counts}
	}
	return c.pick(e.used(object))
}

func (c *cover) pick(used amount.List) []delta {
	var all []delta
	for _, i := range c.indexes {
		if n := used.Get(c.account.hard[i].Name); n.Sign() != 0 {
			all = append(all, delta{i, n})
		}
	}
	return all
}

func difference(now, was []delta) []delta {
	all := slices.Clone(now)
	for _, w := range was {
		if i := slices.IndexFunc(all, func(d delta) bool { return d.index == w.index }); i >= 0 {
			all[i].amount = all[i].amount.Sub(w.amount)
		} else {
			all = append(all, delta{w.index, w.amount.Neg()})
		}
	}
	return slices.DeleteFunc(all, func(d delta) bool { return d.amount.Sign() == 0 })
}

// rises returns the positive deltas, because only they can exceed a limit.
func rises(all []delta) []delta {
	if !slices.ContainsFunc(all, func(d delta) bool { return d.amount.Sign() < 0 }) {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(d delta) bool { return d.amount.Sign() < 0 })
}

// exceeded returns the deltas that would raise the usage above a limit. If held is true, held
// amounts count as usage. Limits without a delta are not checked, because an exceeded limit must
// not block unrelated changes.
func (a *account) exceeded(all []delta, held bool) []delta {
	var over []delta
	for _, d := range all {
		sum := a.used[d.index].Add(d.amount)
		if held {
			sum = sum.Add(a.held[d.index])
		}
		if sum.Cmp(a.hard[d.index].Amount) > 0 {
			over = append(over, d)
		}
	}
	return over
}

func (a *account) hold(all []delta) {
	for _, d := range all {
		a.held[d.index] = a.held[d.index].Add(d.amount)
	}
}

// giveBack releases held deltas and wakes waiters. If the change was stored, its amounts are
// already part of used.
func (a *account) giveBack(all []delta) {
	for _, d := range all {
		a.held[d.index] = a.held[d.index].Sub(d.amount)
	}
	a.wake()
}

// apply adds the deltas of a published change and reports whether used changed.
func (a *account) apply(u unapplied) bool {
	if len(u.deltas) == 0 {
		return false
	}
	if a.scanning {
		a.unapplied = append(a.unapplied, u)
		return false
	}
	a.use(u.deltas)
	a.wake()
	return true
}

// use adds deltas to used. The caller holds the mutex.
func (a *account) use(all []delta) {
	for _, d := range all {
		a.used[d.index] = a.used[d.index].Add(d.amount)
	}
}

func (a *account) wake() {
	if a.freed != nil {
		close(a.freed)
		a.freed = nil
	}
}

func (a *account) named(all []delta, value func(d delta) amount.Amount) amount.List {
	var list amount.List
	for _, d := range all {
		list = append(list, amount.Named{Name: a.hard[d.index].Name, Amount: value(d)})
	}
	return list
}
