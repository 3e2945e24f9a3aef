package quota

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A Ledger holds the usage of all quotas. It is safe for concurrent use.
type Ledger struct {
	evaluators evaluators
	log        *slog.Logger
	now        func() time.Time

	namespaces sync.Map // *namespace by name, for namespaces with quotas; written by the follower only
	epoch      atomic.Pointer[epoch]
	objects    Objects      // set before the first reservation
	unseen     *unseenRules // nil if no other servers share the log

	mu       sync.Mutex
	changed  map[meta.Key]bool
	announce chan struct{} // capacity 1; filled while changed is not empty
}

// New returns a Ledger without quotas. Its Follower adds the quotas. shared reports whether other
// servers write to the same log.
func New(naming *meta.Naming, log *slog.Logger, shared bool) *Ledger {
	l := &Ledger{
		evaluators: newEvaluators(naming), log: log, now: time.Now,
		changed: map[meta.Key]bool{}, announce: make(chan struct{}, 1),
	}
	l.epoch.Store(newEpoch())
	if shared {
		l.unseen = &unseenRules{versions: map[meta.Key]uint64{}, waiting: map[string]chan struct{}{}}
	}
	return l
}

var quotas = meta.GroupResource{Resource: "resourcequotas"}

func (l *Ledger) namespace(name string) *namespace {
	n, ok := l.namespaces.Load(name)
	if !ok {
		return nil
	}
	return n.(*namespace)
}

// Status is the status of a ResourceQuota.
type Status struct {
	UID        string
	Hard, Used tree.Tree
}

// Status returns a quota's status. ok is false if the quota is not in force.
func (l *Ledger) Status(key meta.Key) (s Status, ok bool) {
	n := l.namespace(key.Namespace)
	if n == nil {
		return s, false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	a := n.inForce(key.Name)
	if a == nil {
		return s, false
	}
	s = Status{UID: a.uid, Hard: tree.Tree{}, Used: tree.Tree{}}
	for i, limit := range a.hard {
		s.Hard[limit.Name], s.Used[limit.Name] = limit.Amount.String(), a.used[i].String()
	}
	return s, true
}

func (l *Ledger) change(namespace, quota string) {
	l.mu.Lock()
	l.changed[meta.Key{GroupResource: quotas, Namespace: namespace, Name: quota}] = true
	l.mu.Unlock()
	select {
	case l.announce <- struct{}{}:
	default:
	}
}

func (l *Ledger) forget(namespace, quota string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.changed, meta.Key{GroupResource: quotas, Namespace: namespace, Name: quota})
}

// Changes returns a channel that receives a value when TakeChanges has keys to return.
func (l *Ledger) Changes() <-chan struct{} { return l.announce }

// TakeChanges returns the quotas whose status became outdated since the last call. Many changes can
// thus share one status write.
func (l *Ledger) TakeChanges() []meta.Key {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make([]meta.Key, 0, len(l.changed))
	for key := range l.changed {
		all = append(all, key)
	}
	clear(l.changed)
	return all
}
