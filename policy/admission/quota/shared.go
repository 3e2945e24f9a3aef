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

// Where several servers write to one log, each has a ledger, and what one knows may be old. The log keeps them apart by two
// sorts of guards (request.Guard):
//
//	quotas/<namespace>         which quotas there are, and what they limit: raised by each change of that, and named by all
//	                           changes in the namespace that quotas may be asked about
//	quota/<namespace>/<name>   what one quota counts: raised by each change that takes something of it
//
// So a change is committed only if it was computed by the quotas of now, and beside all that others have taken.

const (
	rulesGuard = "quotas/"
	usageGuard = "quota/"
)

// guards are those of a change that was computed on what was seen up to a version.
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

// changesRules tells whether the change is one of what a quota limits.
func (p *proposed) changesRules() bool {
	return p.resource == quotas && (p.old == nil || rulesDiffer(p.old, p.new))
}

// rulesDiffer compares what two states of a quota limit.
func rulesDiffer(old, now tree.Tree) bool { return !reflect.DeepEqual(old["spec"], now["spec"]) }

// An unseenRules knows the quotas that have changed and have not come into force here yet.
type unseenRules struct {
	mu       sync.Mutex
	versions map[meta.Key]uint64      // of the newest change of a quota
	waiting  map[string]chan struct{} // closed when the last one of a namespace has come into force
}

func newUnseenRules() *unseenRules {
	return &unseenRules{versions: map[meta.Key]uint64{}, waiting: map[string]chan struct{}{}}
}

// add notes that a change is being published.
func (u *unseenRules) add(key meta.Key, version uint64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.versions[key] = version
	if u.waiting[key.Namespace] == nil {
		u.waiting[key.Namespace] = make(chan struct{})
	}
}

// remove notes that a quota is in force as of a version.
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

// in is closed when all quotas of a namespace are in force; nil if they are.
func (u *unseenRules) in(namespace string) <-chan struct{} {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.waiting[namespace]
}

// observeRules takes in that a quota has changed, before that is visible.
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

// end lets a quota that is deleted refuse nothing any more; the follower closes its account.
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

// seen is the version that a change is computed on, with everything that quotas say as of then. The error is a
// *request.ContendedError while they are coming into force.
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

// awaitPublished waits until all that was committed before a quota counts.
func (l *Ledger) awaitPublished(ctx context.Context, version uint64) {
	for l.unseen != nil && ctx.Err() == nil && l.objects.AwaitVersion(ctx, version) != nil {
		l.log.Warn("changes from before a ResourceQuota are still being published", "version", version)
		time.Sleep(firstRetry)
	}
}
