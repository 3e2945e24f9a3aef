package quota

import (
	"context"
	"reflect"
	"sync"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
)

// If several servers write to one log, each server's ledger may be stale. Two kinds of guards
// (request.Guard) keep the ledgers consistent:
//
//	quotas/<namespace>         the quotas and their limits. A change to them raises the guard.
//	                           All changes in the namespace that quotas may check depend on it.
//	quota/<namespace>/<name>   the usage of one quota. Each change to it raises the guard.
//
// The log commits a change only if it was computed from the current quotas and usage.

const (
	rulesGuard = "quotas/"
	usageGuard = "quota/"
)

func (p *proposed) guards(seen uint64, entries []entry) []request.Guard {
	all := make([]request.Guard, 1, 1+len(entries))
	all[0] = request.Guard{Name: rulesGuard + p.namespace, Seen: seen, Raise: p.changesRules()}
	for _, e := range entries {
		if len(e.held) > 0 {
			all = append(all, request.Guard{Name: usageGuard + p.namespace + "/" + e.account.name, Seen: seen, Raise: true})
		}
	}
	return all
}

func (p *proposed) changesRules() bool {
	return p.resource == quotas && (p.old == nil || rulesDiffer(p.old, p.new))
}

func rulesDiffer(old, now tree.Tree) bool { return !reflect.DeepEqual(old["spec"], now["spec"]) }

// unseenRules tracks changed quotas that this server does not enforce yet.
type unseenRules struct {
	mu       sync.Mutex
	versions map[meta.Key]uint64      // newest change of each quota
	waiting  map[string]chan struct{} // by namespace; closed when all its quotas are in force
}

func (u *unseenRules) add(key meta.Key, version uint64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.versions[key] = version
	if u.waiting[key.Namespace] == nil {
		u.waiting[key.Namespace] = make(chan struct{})
	}
}

// remove records that a version of a quota is enforced. If a newer change exists, the quota stays
// unseen.
func (u *unseenRules) remove(key meta.Key, version uint64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.versions[key] > version {
		return
	}
	delete(u.versions, key)
	for other := range u.versions {
		if other.Namespace == key.Namespace {
			return
		}
	}
	if waiting := u.waiting[key.Namespace]; waiting != nil {
		close(waiting)
		delete(u.waiting, key.Namespace)
	}
}

// in returns a channel that is closed once all quotas of the namespace are enforced. It returns nil
// if all are enforced already.
func (u *unseenRules) in(namespace string) <-chan struct{} {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.waiting[namespace]
}

// observeRules records a changed quota before readers see the change.
func (l *Ledger) observeRules(o *observation) {
	if o.now == nil {
		l.end(o.key())
		l.unseen.remove(o.key(), o.version)
		return
	}
	if o.decode(); o.old == nil || rulesDiffer(o.oldTree, o.nowTree) {
		l.unseen.add(o.key(), o.version)
	}
}

// end makes a deleted quota admit all changes, until the follower closes the account of the quota.
func (l *Ledger) end(key meta.Key) {
	n := l.namespace(key.Namespace)
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, a := range n.accounts {
		if a.name == key.Name {
			a.deleted = true
			a.wake()
		}
	}
}

// seen returns the version up to which this server has observed all changes. If a changed quota of
// the namespace is not enforced yet, it returns a *request.ContendedError. With a single server, it
// returns 0.
func (l *Ledger) seen(namespace string) (version uint64, err error) {
	if l.unseen == nil {
		return 0, nil
	}
	version = l.objects.Version()
	if waiting := l.unseen.in(namespace); waiting != nil {
		return 0, &request.ContendedError{Wait: func(ctx context.Context) {
			select {
			case <-waiting:
			case <-ctx.Done():
			}
		}}
	}
	return version, nil
}

func (l *Ledger) awaitPublished(ctx context.Context, version uint64) {
	for l.unseen != nil && ctx.Err() == nil && l.objects.AwaitVersion(ctx, version) != nil {
		l.log.Warn("changes before a ResourceQuota are not published yet", "version", version)
		time.Sleep(firstRetry)
	}
}
