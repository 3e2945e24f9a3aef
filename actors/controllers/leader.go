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

// Leader observes whether another process runs the same controllers. That process holds a
// leader-election Lease, which expires unless it is renewed. As in client-go, a Lease is valid for
// its duration after a renewal was observed, so that clocks need not be synchronized. For a Lease
// found at startup, the duration counts from its renewTime.
type Leader struct {
	leases reconcile.Client
	key    meta.Key
	logger *slog.Logger
	synced chan struct{} // closed when the holder is known
	seen   chan struct{} // capacity one; signals a change of the Lease

	mu      sync.Mutex // guards the fields below
	record  leaseRecord
	known   bool          // the Lease has been read at least once
	until   time.Time     // end of the record's validity
	holder  string        // current holder; "" if there is none
	changed chan struct{} // closed when holder changes
}

type leaseRecord struct {
	holder, renewed string
	duration        time.Duration
}

// NewLeader returns a Leader for a Lease in the system namespace. Under --naming kubernetes, the
// Lease of platform-scheduler is that of kube-scheduler.
func NewLeader(env *Env, name string) *Leader {
	leases := env.Client("coordination.platform.io", "v1", "Lease")
	return &Leader{
		leases: leases, logger: env.Log, synced: make(chan struct{}), seen: make(chan struct{}, 1), changed: make(chan struct{}),
		key: leases.Key(env.SystemNamespace(), env.Translate(name)),
	}
}

// Holder returns the holder of the Lease, or "" if there is none. changed is closed when the holder
// changes. Holder blocks until the holder is known or ctx is done.
func (l *Leader) Holder(ctx context.Context) (holder string, changed <-chan struct{}) {
	select {
	case <-l.synced:
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.holder, l.changed
}

// Run watches the Lease until ctx is done.
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

func (l *Leader) onSynced() {
	l.mu.Lock()
	l.known = true
	l.mu.Unlock()
	l.update(time.Now())
	close(l.synced)
}

func readLease(object tree.Tree) leaseRecord {
	spec := object.Object("spec")
	seconds, _ := spec["leaseDurationSeconds"].(int64)
	return leaseRecord{holder: spec.String("holderIdentity"), renewed: spec.String("renewTime"), duration: time.Duration(seconds) * time.Second}
}

// update determines the holder at the given time. It runs after each change and when the Lease
// expires. left is the time until an unrenewed Lease expires.
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
		l.logger.Info("another process holds the Lease: pausing the built-in controllers of this kind", "lease", l.key.Namespace+"/"+l.key.Name, "holder", holder)
	} else {
		l.logger.Info("no process holds the Lease: resuming the built-in controllers of this kind", "lease", l.key.Namespace+"/"+l.key.Name, "before", l.holder)
	}
	l.holder = holder
	close(l.changed)
	l.changed = make(chan struct{})
	return left
}
