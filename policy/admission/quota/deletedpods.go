package quota

import (
	"context"
	"slices"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// A deletedPod is a terminating Pod. It stops counting one grace period after its
// deletionTimestamp, because its node is presumably lost. No event marks that time, so the ledger
// tracks such Pods. The namespace's mutex guards the fields.
type deletedPod struct {
	object *meta.Object
	kind   *schema.Kind
	due    time.Time // time when it stops counting
	lapsed bool      // the Pod has stopped counting
}

// isLapsed reports whether a terminating Pod has stopped counting. The caller holds the mutex.
func (n *namespace) isLapsed(o *meta.Object) bool {
	if o == nil || !o.Meta.Terminating {
		return false
	}
	p := n.deleted[o.Meta.UID]
	return p != nil && p.lapsed
}

// track records a terminating Pod, or drops a removed one. The caller holds the mutex.
func (o *observation) track(n *namespace) {
	switch {
	case o.now == nil:
		delete(n.deleted, o.old.Meta.UID)
	case o.now.Meta.Terminating:
		o.decode()
		n.trackDeleted(&deletedPod{object: o.now, kind: o.kind, due: overdueAt(o.nowTree)})
	}
}

// trackDeleted records the state of a terminating Pod, unless a newer state is known. A scan may
// see an older state than Observe. The caller holds the mutex.
func (n *namespace) trackDeleted(p *deletedPod) {
	was := n.deleted[p.object.Meta.UID]
	if was != nil && was.object.Version > p.object.Version || p.due.IsZero() {
		return
	}
	p.lapsed = was != nil && was.lapsed
	n.deleted[p.object.Meta.UID] = p
}

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

func (l *Ledger) lapseDue() {
	l.namespaces.Range(func(_, value any) bool {
		n := value.(*namespace)
		n.mu.Lock()
		defer n.mu.Unlock()
		l.lapseDueIn(n)
		return true
	})
}

// lapseDueIn stops counting a namespace's overdue Pods and reports whether any were found. It does
// nothing during a scan. The caller holds the mutex.
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

// lapse releases the compute resources of one Pod. The Pod still counts as an object. The caller
// holds the mutex.
func (l *Ledger) lapse(n *namespace, p *deletedPod) {
	p.lapsed = true
	pod := l.decode(p.kind, p.object)
	for _, c := range n.of(pods) {
		if c.account.apply(unapplied{deltas: difference(c.uses(pod, true), c.uses(pod, false))}) {
			l.change(n.name, c.account.name)
		}
	}
}

func (n *namespace) lapsedUIDs() map[string]bool {
	uids := map[string]bool{}
	for uid, p := range n.deleted {
		if p.lapsed {
			uids[uid] = true
		}
	}
	return uids
}
