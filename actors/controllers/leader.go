package controllers

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A Leader tells whether another process runs the controllers that are built in here: one that holds the Lease of a
// leader election. It holds it until the duration of the Lease has passed without a renewal. As in client-go that is
// measured from when a renewal is seen, so that clocks need not agree; only what was there before the start is measured
// by its own time, since nobody has seen it come.
type Leader struct {
	leases reconcile.Client
	key    meta.Key
	logger *slog.Logger
	synced chan struct{} // closed when it is known who holds the Lease
	seen   chan struct{} // capacity one; filled when the Lease has changed

	mu      sync.Mutex // guards what follows
	record  leaseRecord
	known   bool          // the Lease has been read once
	until   time.Time     // that the record holds
	holder  string        // who holds it now; "" is nobody
	changed chan struct{} // closed when holder becomes another one
}

// A leaseRecord is what a Lease says.
type leaseRecord struct {
	holder, renewed string
	duration        time.Duration
}

// NewLeader makes a Leader of the Lease of kube-controller-manager, whose name is the naming profile's.
func NewLeader(env *Env) *Leader {
	leases := env.Client("coordination.platform.io", "v1", "Lease")
	return &Leader{
		leases: leases, logger: env.Log, synced: make(chan struct{}), seen: make(chan struct{}, 1), changed: make(chan struct{}),
		key: leases.Key(env.SystemNamespace(), env.Translate("platform-controller-manager")),
	}
}

// Holder answers who holds the Lease, "" for nobody, and a channel that is closed when that changes. It waits until it
// is known, or the context ends.
func (l *Leader) Holder(ctx context.Context) (holder string, changed <-chan struct{}) {
	select {
	case <-l.synced:
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.holder, l.changed
}

// Run follows the Lease until the context ends.
func (l *Leader) Run(ctx context.Context) {
	var informer sync.WaitGroup
	defer informer.Wait()
	f := reconcile.Informer{Client: l.leases, Name: l.key.Name, On: l.onLease, Synced: l.onSynced}
	informer.Go(func() { f.Run(ctx) })
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.seen:
		case <-timer.C:
		}
		if left := l.update(time.Now()); left > 0 {
			timer.Reset(left)
		}
	}
}

// onLease takes in the Lease.
func (l *Leader) onLease(e reconcile.Event) {
	if e.Key.Namespace != l.key.Namespace {
		return
	}
	var record leaseRecord
	if !e.Deleted {
		if object, err := l.leases.Decode(e.Object); err == nil {
			record = readLease(object)
		}
	}
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if record != l.record {
		from := now
		if renewed, err := time.Parse(time.RFC3339Nano, record.renewed); err == nil && !l.known && renewed.Before(now) {
			from = renewed
		}
		l.record, l.until = record, from.Add(record.duration)
	}
	l.known = true
	select {
	case l.seen <- struct{}{}:
	default:
	}
}

// onSynced ends the wait of Holder.
func (l *Leader) onSynced() {
	l.mu.Lock()
	l.known = true
	l.mu.Unlock()
	l.update(time.Now())
	close(l.synced)
}

// readLease answers what a decoded Lease says.
func readLease(object tree.Tree) leaseRecord {
	spec := object.Object("spec")
	seconds, _ := spec["leaseDurationSeconds"].(int64)
	return leaseRecord{holder: spec.String("holderIdentity"), renewed: spec.String("renewTime"), duration: time.Duration(seconds) * time.Second}
}

// update says who holds the Lease at a time, and answers how long that is so unless it is renewed.
// It is called for each change and when the time is over, whichever comes first.
func (l *Leader) update(now time.Time) (left time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	holder := l.record.holder
	if left = l.until.Sub(now); left <= 0 || holder == "" {
		holder, left = "", 0
	}
	if holder == l.holder {
		return left
	}
	if holder != "" {
		l.logger.Info("another controller manager holds the Lease: the built-in twins of its controllers stand back", "lease", l.key.Namespace+"/"+l.key.Name, "holder", holder)
	} else {
		l.logger.Info("no other controller manager holds the Lease: the built-in controllers take over", "lease", l.key.Namespace+"/"+l.key.Name, "before", l.holder)
	}
	l.holder = holder
	// Wakes all who have the channel from Holder; later callers get the new one.
	close(l.changed)
	l.changed = make(chan struct{})
	return left
}
