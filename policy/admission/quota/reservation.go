package quota

import (
	"context"
	"fmt"
	"strings"

	"github.com/troupe-api/troupe/kinds/amount"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A reservation holds the amounts of one change in its namespace's quotas.
type reservation struct {
	request.Reservation
	epoch     *epoch
	namespace *namespace // nil without quotas
	entries   []entry    // guarded by the namespace's mutex; nil once settled
}

// An entry is the effect of a change on one account. held contains the positive deltas, which are
// reserved in the account.
type entry struct {
	account *account
	deltas  []delta
	held    []delta
}

func (r *reservation) end() {
	if r.namespace != nil {
		r.namespace.mu.Lock()
		r.giveBack()
		r.namespace.mu.Unlock()
	}
	r.epoch.leave()
}

// giveBack releases all held amounts. The caller holds the mutex.
func (r *reservation) giveBack() {
	for _, e := range r.entries {
		e.account.giveBack(e.held)
	}
	r.entries = nil
}

// proposed is a change in stored form. old is nil for a create.
type proposed struct {
	namespace string
	resource  meta.GroupResource
	evaluator *evaluator
	old, new  tree.Tree
	// refusable is true if an exceeded quota rejects the change. Otherwise the change only counts.
	refusable bool
	dryRun    bool
	limits    limitedResources
}

type refusal string

func (r refusal) Error() string { return string(r) }

// reserve reserves a change's amounts. The error is a refusal, or a *request.ContendedError if the
// outcome depends on changes in progress.
func (l *Ledger) reserve(p *proposed) (held *reservation, err error) {
	e := l.enter()
	defer func() {
		if held == nil {
			e.leave()
		}
	}()
	r, err := l.reserveIn(e, p)
	switch {
	case err != nil || p.dryRun:
		return nil, err
	case r == nil:
		return &e.unlimited, nil
	}
	end := r.end
	r.OnCommit, r.OnRelease = end, end
	if r.namespace != nil {
		r.OnPublish = func(k *schema.Kind, version uint64, old, now *meta.Object) { l.observe(k, version, old, now, r) }
	}
	return r, nil
}

func (l *Ledger) reserveIn(e *epoch, p *proposed) (*reservation, error) {
	seen, err := l.seen(p.namespace)
	if err != nil {
		return nil, err
	}
	r, err := l.reserveBeside(e, p)
	if err != nil || l.unseen == nil {
		return r, err
	}
	if r == nil {
		r = &reservation{epoch: e}
	}
	r.Guards = p.guards(seen, r.entries)
	return r, nil
}

// reserveBeside reserves a change's amounts in addition to the used and held amounts. It returns
// nil if no quota covers the change.
func (l *Ledger) reserveBeside(e *epoch, p *proposed) (*reservation, error) {
	n := l.namespace(p.namespace)
	for {
		var v *view
		var covers []*cover
		if n != nil {
			v = n.view.Load()
			covers = (*v)[p.resource]
		}
		if len(covers) == 0 && len(p.limits) == 0 {
			return nil, nil
		}
		r := &reservation{epoch: e, namespace: n, entries: p.entries(covers)}
		if p.refusable {
			if err := p.limits.check(p, covers); err != nil {
				return nil, err
			}
		}
		if len(covers) == 0 {
			return nil, nil
		}
		n.mu.Lock()
		if n.view.Load() != v { // the quotas have changed since
			n.mu.Unlock()
			continue
		}
		err := r.hold(p)
		if err != nil && l.lapseDueIn(n) { // another server may already have released overdue Pods
			err = r.hold(p)
		}
		n.mu.Unlock()
		return r, err
	}
}

func (p *proposed) entries(covers []*cover) []entry {
	if len(covers) == 0 {
		return nil
	}
	all := make([]entry, len(covers))
	var now, was amount.List
	evaluated := false
	for i, c := range covers {
		if !c.decodes {
			all[i] = entry{account: c.account}
			if p.old == nil {
				all[i].deltas = c.ones()
			}
		} else {
			if !evaluated {
				now, evaluated = p.evaluator.used(p.new), true
				if p.old != nil {
					was = p.evaluator.used(p.old)
				}
			}
			all[i] = entry{account: c.account, deltas: difference(c.pickIn(p.new, now), c.pickIn(p.old, was))}
		}
		all[i].held = rises(all[i].deltas)
	}
	return all
}

func (c *cover) ones() []delta {
	all := make([]delta, len(c.indexes))
	for i, index := range c.indexes {
		all[i] = delta{index, one}
	}
	return all
}

func (c *cover) pickIn(object tree.Tree, used amount.List) []delta {
	if object == nil || !c.evaluator.matches(c.account.scopes, object) {
		return nil
	}
	return c.pick(used)
}

// hold reserves the amounts in all accounts, or in none. The caller holds the mutex.
func (r *reservation) hold(p *proposed) error {
	if p.refusable {
		if err := r.check(p); err != nil {
			return err
		}
	}
	if p.dryRun {
		return nil
	}
	for _, e := range r.entries {
		e.account.hold(e.held)
	}
	return nil
}

// check returns a refusal if the change exceeds a quota. If it exceeds a quota only together with
// held amounts, it returns a ContendedError.
func (r *reservation) check(p *proposed) error {
	for _, e := range r.entries {
		if e.account.unknown && len(e.held) > 0 && !e.account.deleted {
			return e.account.refuseUnknown(e.held)
		}
		if !e.account.enforced || e.account.deleted {
			continue
		}
		if missing := e.account.constraint(p); missing != "" {
			return refusal("failed quota: " + e.account.name + ": " + missing)
		}
	}
	var contended *entry
	for i, e := range r.entries {
		if !e.account.enforced || e.account.deleted {
			continue
		}
		if over := e.account.exceeded(e.held, false); len(over) > 0 {
			return e.account.refuse(over)
		}
		if contended == nil && len(e.account.exceeded(e.held, true)) > 0 {
			contended = &r.entries[i]
		}
	}
	if contended != nil {
		return &request.ContendedError{Wait: func(ctx context.Context) { contended.account.await(ctx, r.namespace, contended.held) }}
	}
	return nil
}

func (a *account) constraint(p *proposed) string {
	if p.evaluator.constraint == nil || !p.evaluator.matches(a.scopes, p.new) {
		return ""
	}
	var limited []string
	for _, i := range a.covers[p.resource].indexes {
		limited = append(limited, a.hard[i].Name)
	}
	return p.evaluator.constraint(limited, p.new)
}

func (a *account) refuse(over []delta) refusal {
	return refusal(fmt.Sprintf("exceeded quota: %s, requested: %s, used: %s, limited: %s", a.name,
		a.named(over, func(d delta) amount.Amount { return d.amount }),
		a.named(over, func(d delta) amount.Amount { return a.used[d.index] }),
		a.named(over, func(d delta) amount.Amount { return a.hard[d.index].Amount })))
}

func (a *account) refuseUnknown(all []delta) refusal {
	var names []string
	for _, d := range all {
		names = append(names, a.hard[d.index].Name)
	}
	return refusal("status unknown for quota: " + a.name + ", resources: " + strings.Join(names, ","))
}

// await blocks until the outcome for wanted no longer depends on changes in progress, or ctx ends.
func (a *account) await(ctx context.Context, n *namespace, wanted []delta) {
	for {
		n.mu.Lock()
		if a.retired || a.deleted || len(a.exceeded(wanted, false)) > 0 || len(a.exceeded(wanted, true)) == 0 {
			n.mu.Unlock()
			return
		}
		if a.freed == nil {
			a.freed = make(chan struct{})
		}
		freed := a.freed
		n.mu.Unlock()
		select {
		case <-freed:
		case <-ctx.Done():
			return
		}
	}
}
