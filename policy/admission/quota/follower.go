package quota

import (
	"context"
	"sync"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/policy"
)

// Objects reads existing objects to compute the initial usage.
type Objects interface {
	// Scan calls visit for every object of a resource in a namespace. The objects come from a
	// consistent snapshot, which contains exactly the changes up to the returned version. Observe
	// has received the same changes.
	Scan(ctx context.Context, resource meta.GroupResource, namespace string, visit func(*schema.Kind, *meta.Object)) (version uint64, err error)
	// Version returns the version up to which Observe has received all changes.
	Version() uint64
	// AwaitVersion blocks until Version reaches version, for a bounded time.
	AwaitVersion(ctx context.Context, version uint64) error
}

type follower struct {
	ledger  *Ledger
	objects Objects

	mu sync.Mutex // serializes changes of namespaces and accounts in onQuota and retry
}

// Follower returns the follower of quotas. A quota is in force once the follower has processed it.
// Call Follower only once.
func (l *Ledger) Follower(objects Objects) policy.Follower {
	l.objects = objects
	return &follower{ledger: l, objects: objects}
}

func (f *follower) Resource() meta.GroupResource { return quotas }

func (f *follower) Follow(ctx context.Context, objects policy.Objects) error {
	go f.ledger.lapseUntil(ctx)
	return objects.Inform(ctx, quotas, func(c policy.Change) { f.onQuota(ctx, c) })
}

func (f *follower) onQuota(ctx context.Context, c policy.Change) {
	f.mu.Lock()
	defer f.mu.Unlock()
	l := f.ledger
	if l.unseen != nil {
		defer l.unseen.remove(c.Key, c.Version)
	}
	n := l.namespace(c.Key.Namespace)
	if c.Deleted {
		if n != nil {
			l.close(n, c.Key.Name)
		}
		return
	}
	if n == nil {
		n = newNamespace(c.Key.Namespace)
		l.namespaces.Store(n.name, n)
	}
	s := parseSpec(c.Object)
	if !l.setHard(ctx, n, s) {
		l.awaitPublished(ctx, c.Version)
		if a := f.replace(ctx, n, s); a.unknown {
			go f.retry(ctx, n, a)
		}
	}
	l.change(n.name, s.name)
}

func (l *Ledger) close(n *namespace, quota string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.retire(func(a *account) bool { return a.name == quota })
	if len(n.accounts) == 0 {
		l.namespaces.Delete(n.name)
	}
	l.forget(n.name, quota)
}

// setHard applies the new limits in s to the enforced account of the quota. It returns false if
// there is no enforced account, or if s changes more than the amounts of the limits.
func (l *Ledger) setHard(ctx context.Context, n *namespace, s spec) bool {
	n.mu.Lock()
	a := n.inForce(s.name)
	if a == nil || !a.countsAlike(&s) {
		n.mu.Unlock()
		return false
	}
	lowered := false
	for i, limit := range s.hard {
		lowered = lowered || limit.Amount.Cmp(a.hard[i].Amount) < 0
		a.hard[i].Amount = limit.Amount
	}
	a.wake()
	n.mu.Unlock()
	if lowered {
		l.settle(ctx)
	}
	return true
}

// maxSettle limits the wait for earlier changes. Unless the disk or log store hangs, such changes
// are stored within that time.
const maxSettle = 5 * time.Second

// settle blocks until all changes that have passed admission are stored or dropped. Such changes
// may exceed the limits of a new or changed quota, because they were checked earlier. Their usage
// must be counted before the quota is in force.
func (l *Ledger) settle(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, maxSettle)
	defer cancel()
	select {
	case <-l.endEpoch():
	case <-ctx.Done():
		l.log.Warn("changes before a ResourceQuota are still pending")
	}
}

// replace opens an account and retires the previous one once the usage is known. If the scan fails,
// the new account's usage is unknown and the previous account stays in force.
func (f *follower) replace(ctx context.Context, n *namespace, s spec) *account {
	l := f.ledger
	a := l.evaluators.open(s)
	n.mu.Lock()
	a.lapsed = n.lapsedUIDs()
	n.setAccounts(append(n.accounts[:len(n.accounts):len(n.accounts)], a))
	n.mu.Unlock()
	l.settle(ctx) // from here on, all changes in progress are held in the account, too

	scan := scan{ledger: l, account: a, versions: map[meta.GroupResource]uint64{}}
	err := scan.run(ctx, f.objects, n.name)
	n.mu.Lock()
	scan.finish(n)
	a.enforced, a.unknown = err == nil, err != nil
	n.retire(func(other *account) bool { return other != a && other.name == a.name && (a.enforced || other.unknown) })
	n.mu.Unlock()
	if err != nil {
		l.log.Error("cannot compute the usage of a ResourceQuota", "namespace", n.name, "quota", s.name, "error", err)
	} else {
		l.settle(ctx)
	}
	return a
}

const (
	firstRetry = 100 * time.Millisecond
	lastRetry  = 30 * time.Second
)

// retry repeats the scan until the account's usage is known, or the quota is changed or deleted.
func (f *follower) retry(ctx context.Context, n *namespace, a *account) {
	for wait := firstRetry; a.unknown; wait = min(2*wait, lastRetry) {
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
		if a = f.replaceUnknown(ctx, n, a); a == nil {
			return
		}
	}
}

// replaceUnknown replaces an account with unknown usage. It returns nil if the account is retired.
func (f *follower) replaceUnknown(ctx context.Context, n *namespace, a *account) *account {
	f.mu.Lock()
	defer f.mu.Unlock()
	n.mu.Lock()
	gone, s := a.retired, a.spec
	n.mu.Unlock()
	if gone {
		return nil
	}
	replaced := f.replace(ctx, n, s)
	f.ledger.change(n.name, s.name)
	return replaced
}

// A scan computes the initial usage of an account. Changes published during the scan are queued in
// the account.
type scan struct {
	ledger   *Ledger
	account  *account
	versions map[meta.GroupResource]uint64 // snapshot version by resource
	deleted  []*deletedPod
}

func (s *scan) run(ctx context.Context, objects Objects, namespace string) error {
	for resource, c := range s.account.covers {
		version, err := objects.Scan(ctx, resource, namespace, func(k *schema.Kind, o *meta.Object) { s.visit(c, k, o) })
		if err != nil {
			return err
		}
		s.versions[resource] = version
	}
	return nil
}

// visit counts one object. It needs no lock, because only the scan writes used during scanning.
func (s *scan) visit(c *cover, k *schema.Kind, o *meta.Object) {
	if !c.decodes {
		s.account.use(c.ones())
		return
	}
	object := s.ledger.decode(k, o)
	s.account.use(c.uses(object, s.account.lapsed[o.Meta.UID]))
	if c.resource == pods && o.Meta.Terminating {
		s.deleted = append(s.deleted, &deletedPod{object: o, kind: k, due: overdueAt(object)})
	}
}

// finish applies the changes queued during the scan. The caller holds the mutex.
func (s *scan) finish(n *namespace) {
	a := s.account
	a.scanning = false
	for _, u := range a.unapplied {
		if u.version > s.versions[u.resource] {
			a.use(u.deltas)
		}
	}
	for _, p := range s.deleted {
		if !a.gone[p.object.Meta.UID] {
			n.trackDeleted(p)
		}
	}
	a.unapplied, a.gone = nil, nil
}
