package quota

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A Ledger owns the usage of all quotas of a server. Many goroutines may use it.
type Ledger struct {
	evaluators evaluators
	log        *slog.Logger
	now        func() time.Time

	namespaces sync.Map // of *namespace by name; only those with quotas. Only the follower writes to it.
	epoch      atomic.Pointer[epoch]
	objects    Objects      // set before anything is reserved
	unseen     *unseenRules // nil if no other server writes to the same log

	mu       sync.Mutex // guards changed
	changed  map[meta.Key]bool
	announce chan struct{} // has room for one; filled while changed is not empty
}

// New makes a Ledger for the names of a profile. It has no quotas until its Follower runs. shared says that other servers write to
// the same log.
func New(naming *meta.Naming, log *slog.Logger, shared bool) *Ledger {
	l := &Ledger{
		evaluators: newEvaluators(naming), log: log, now: time.Now,
		changed: map[meta.Key]bool{}, announce: make(chan struct{}, 1),
	}
	l.epoch.Store(newEpoch())
	if shared {
		l.unseen = newUnseenRules()
	}
	return l
}

// quotas are the resource that the ledger follows.
var quotas = meta.GroupResource{Resource: "resourcequotas"}

// namespace is that of a name; nil if it has no quotas.
func (l *Ledger) namespace(name string) *namespace {
	n, ok := l.namespaces.Load(name)
	if !ok {
		return nil
	}
	return n.(*namespace)
}

// A Status is what a quota's status has to say.
type Status struct {
	UID        string
	Hard, Used tree.Tree
}

// Status is that of a quota; false if it is not in force.
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
		s.Hard[limit.name], s.Used[limit.name] = limit.amount.String(), a.used[i].String()
	}
	return s, true
}

// change records that the status of a quota may not be right any more.
func (l *Ledger) change(namespace, quota string) {
	l.mu.Lock()
	l.changed[meta.Key{GroupResource: quotas, Namespace: namespace, Name: quota}] = true
	l.mu.Unlock()
	select {
	case l.announce <- struct{}{}:
	default:
	}
}

// forget takes back what change has recorded of a quota that has gone.
func (l *Ledger) forget(namespace, quota string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.changed, meta.Key{GroupResource: quotas, Namespace: namespace, Name: quota})
}

// Changes receives when there is something for TakeChanges.
func (l *Ledger) Changes() <-chan struct{} { return l.announce }

// TakeChanges are the quotas whose status may not be right, each since it was taken last. They are gathered
// by quota, so that thousands of changes cause one write of its status.
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
