package quota

import (
	"context"
	"slices"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// A Pod that is being deleted counts until its grace period has passed a second time: its node may be
// lost, and others shall not wait for that. No change tells of it, so the ledger keeps these Pods.

// A deletedPod is one of them. Its namespace's mutex guards it.
type deletedPod struct {
	object *meta.Object
	kind   *schema.Kind
	due    time.Time // when it stops counting
	lapsed bool      // it has
}

// isLapsed tells whether a Pod has stopped to count because it should have ended. The caller holds the mutex.
func (n *namespace) isLapsed(o *meta.Object) bool {
	if o == nil || !o.Meta.Terminating {
		return false
	}
	p := n.deleted[o.Meta.UID]
	return p != nil && p.lapsed
}

// track keeps a Pod that is being deleted until it is gone. The caller holds the mutex.
func (o *observation) track(n *namespace) {
	switch {
	case o.now == nil:
		delete(n.deleted, o.old.Meta.UID)
	case o.now.Meta.Terminating:
		o.decode()
		n.trackDeleted(&deletedPod{object: o.now, kind: o.kind, due: overdueAt(o.nowTree)})
	}
}

// trackDeleted keeps the newest state of a Pod. The caller holds the mutex. A scan may come with an older
// state than what was observed.
func (n *namespace) trackDeleted(p *deletedPod) {
	was := n.deleted[p.object.Meta.UID]
	if was != nil && was.object.Version > p.object.Version || p.due.IsZero() {
		return
	}
	p.lapsed = was != nil && was.lapsed
	n.deleted[p.object.Meta.UID] = p
}

// lapseUntil stops counting Pods that should have ended, about once a second, until ctx ends.
func (l *Ledger) lapseUntil(ctx context.Context) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			l.lapseDue()
		}
	}
}

// lapseDue stops counting Pods that should have ended by now.
func (l *Ledger) lapseDue() {
	l.namespaces.Range(func(_, value any) bool {
		n := value.(*namespace)
		n.mu.Lock()
		defer n.mu.Unlock()
		l.lapseDueIn(n)
		return true
	})
}

// lapseDueIn is lapseDue of one namespace, and tells whether there were any. The caller holds the mutex. Where an account is being scanned,
// it leaves that to the next time.
func (l *Ledger) lapseDueIn(n *namespace) (any bool) {
	if len(n.deleted) == 0 || slices.ContainsFunc(n.accounts, func(a *account) bool { return a.scanning }) {
		return false
	}
	now := l.now()
	for _, p := range n.deleted {
		if !p.lapsed && now.After(p.due) {
			l.lapse(n, p)
			any = true
		}
	}
	return any
}

// lapse stops counting one Pod. The caller holds the mutex. It goes on counting as an object; only its cpu,
// memory and the like are free again.
func (l *Ledger) lapse(n *namespace, p *deletedPod) {
	p.lapsed = true
	pod := l.decode(p.kind, p.object)
	for _, c := range n.of(pods) {
		if c.account.apply(unapplied{deltas: difference(c.uses(pod, true), c.uses(pod, false))}) {
			l.change(n.name, c.account.name)
		}
	}
}

// lapsedUIDs are the Pods that have stopped to count. The caller holds the mutex.
func (n *namespace) lapsedUIDs() map[string]bool {
	uids := map[string]bool{}
	for uid, p := range n.deleted {
		if p.lapsed {
			uids[uid] = true
		}
	}
	return uids
}
