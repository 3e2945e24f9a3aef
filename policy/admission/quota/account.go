package quota

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/amount"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy"
)

// A spec is what a ResourceQuota says.
type spec struct {
	name, uid string
	hard      amounts // in the order of their names
	scopes    []requirement
}

func parseSpec(o *policy.Object) spec {
	from := o.Tree.Object("spec")
	s := spec{name: o.Key.Name, uid: o.Meta.UID, scopes: requirements(from.Strings("scopes"), from.Object("scopeSelector").Objects("matchExpressions"))}
	hard := from.Object("hard")
	for _, name := range hard.SortedKeys() {
		s.hard = append(s.hard, namedAmount{name, amount.Read(hard.String(name))})
	}
	return s
}

// countsAlike tells whether two specs differ in their amounts at most, so that what is used is the same.
// Then the new limits can take effect at once, without a scan.
func (s *spec) countsAlike(o *spec) bool {
	return s.name == o.name && s.uid == o.uid && slices.EqualFunc(s.scopes, o.scopes, requirement.equal) &&
		slices.EqualFunc(s.hard, o.hard, func(a, b namedAmount) bool { return a.name == b.name })
}

// An account is one quota in one form: what it limits, and how much of that is used. Fields are guarded
// by the mutex of its namespace, but for those that are said to be immutable.
type account struct {
	spec                                 // immutable, but for the amounts of hard
	covers map[meta.GroupResource]*cover // immutable

	used []amount.Amount // of what is published, in the order of hard
	held []amount.Amount // by reservations
	// scanning says that used is being computed; what is published meanwhile waits in unapplied.
	scanning  bool
	unapplied []unapplied
	gone      map[string]bool // uids of deleted Pods that are removed while the account is being scanned
	// enforced says that changes are refused; retired that the account has been replaced, or its quota
	// deleted. unknown says that what is used could not be found out: all that takes something is refused.
	enforced, retired, unknown bool
	// deleted says that its quota is gone, and that it refuses nothing until it is retired.
	deleted bool
	// lapsed are the uids of the Pods that had stopped counting when the account was opened. Immutable.
	lapsed map[string]bool
	freed  chan struct{} // closed when something is given back; nil while nobody waits
}

// A cover is what an account limits of the objects of one resource. It is immutable. It does not decode
// objects where every object counts the same, which is the usual quota of counts.
type cover struct {
	account   *account
	resource  meta.GroupResource
	evaluator *evaluator
	indexes   []int // into hard
	// decodes says that it depends on an object what it counts.
	decodes bool
}

// A change of one of an account's amounts. Index is that of hard.
type delta struct {
	index  int
	amount amount.Amount
}

// unapplied are the deltas of a change that is published while the account is being scanned.
type unapplied struct {
	resource meta.GroupResource
	version  uint64
	deltas   []delta
}

// open makes the account of a quota. A name may be limited for several resources, and several names for
// one.
func (e evaluators) open(s spec) *account {
	a := &account{
		spec: s, covers: map[meta.GroupResource]*cover{}, scanning: true, gone: map[string]bool{},
		used: make([]amount.Amount, len(s.hard)), held: make([]amount.Amount, len(s.hard)),
	}
	for i, limit := range s.hard {
		for resource, evaluator := range e {
			if evaluator.covers(limit.name) {
				a.cover(resource, evaluator, i)
			}
		}
		if resource, ok := countedResource(limit.name); ok && e[resource] == nil {
			a.cover(resource, e.of(resource), i)
		}
	}
	return a
}

// cover adds one more name to what the account limits of a resource. Scopes of resources that have none
// match no object, so such a quota does not cover them.
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
	c.decodes = c.decodes || !slices.Contains(e.counts, a.hard[index].name)
}

// uses is what an object counts; nil if there is none. lapsed says that it has stopped to count but
// by its number.
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

// pick is what counts of amounts.
func (c *cover) pick(used amounts) []delta {
	var all []delta
	for _, i := range c.indexes {
		if n := used.get(c.account.hard[i].name); n.Sign() != 0 {
			all = append(all, delta{i, n})
		}
	}
	return all
}

// difference is what must be added to was to get now. What is equal on both sides is left out, so an update
// of labels has no deltas.
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

// rises are the deltas that take something. Only these can exceed a limit; what falls is always allowed.
func rises(all []delta) []delta {
	if !slices.ContainsFunc(all, func(d delta) bool { return d.amount.Sign() < 0 }) {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(d delta) bool { return d.amount.Sign() < 0 })
}

// exceeded are the deltas for which there is no room beside what is used and, if held is set, held. Amounts
// that the change does not take are not looked at: a quota that is exceeded already must not forbid
// unrelated changes.
func (a *account) exceeded(all []delta, held bool) []delta {
	var over []delta
	for _, d := range all {
		sum := a.used[d.index].Add(d.amount)
		if held {
			sum = sum.Add(a.held[d.index])
		}
		if sum.Cmp(a.hard[d.index].amount) > 0 {
			over = append(over, d)
		}
	}
	return over
}

// hold sets deltas aside.
func (a *account) hold(all []delta) {
	for _, d := range all {
		a.held[d.index] = a.held[d.index].Add(d.amount)
	}
}

// giveBack ends a hold. Whoever waits for room is woken, also if the change was stored: then its amounts
// are used instead.
func (a *account) giveBack(all []delta) {
	for _, d := range all {
		a.held[d.index] = a.held[d.index].Sub(d.amount)
	}
	a.wake()
}

// apply adds the deltas of a published change, and tells whether there are any.
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

// use counts deltas as used, for a caller who holds the mutex.
func (a *account) use(all []delta) {
	for _, d := range all {
		a.used[d.index] = a.used[d.index].Add(d.amount)
	}
}

// wake wakes those who wait for what others hold. Each change that waits looks again by itself whether
// there is room now.
func (a *account) wake() {
	if a.freed != nil {
		close(a.freed)
		a.freed = nil
	}
}

// named are deltas under their names, or the used or hard amounts of the same names.
func (a *account) named(all []delta, value func(d delta) amount.Amount) amounts {
	var list amounts
	for _, d := range all {
		list = append(list, namedAmount{a.hard[d.index].name, value(d)})
	}
	return list
}
