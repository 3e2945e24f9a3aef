package controllers

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A Leader tells whether another process runs the controllers that are built in here: one that holds the Lease of a
// leader election. It holds it until the duration of the Lease has passed without a renewal. As in client-go that is
// measured from when a renewal is seen, so that clocks need not agree; only what was there before the start is measured
// by its own time, since nobody has seen it come.
type Leader struct {
	store  Store
	lease  *schema.Kind
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
func NewLeader(store Store, kinds *catalog.Catalog, logger *slog.Logger) *Leader {
	naming := kinds.Naming()
	k := kinds.ByGVK(meta.GroupVersionKind{Group: naming.Group("coordination"), Version: "v1", Kind: "Lease"})
	return &Leader{
		store: store, lease: k, logger: logger, synced: make(chan struct{}), seen: make(chan struct{}, 1), changed: make(chan struct{}),
		key: meta.Key{GroupResource: k.Storage, Namespace: naming.SystemNamespace(), Name: naming.Translate("platform-controller-manager")},
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
	informer.Go(func() { reconcile.RunNamedInformer(ctx, l.store, l.lease, l.key.Name, l) })
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

// OnEvent implements reconcile.EventHandler.
// An event that leaves the record as it is, such as a change of labels, prolongs nothing.
func (l *Leader) OnEvent(e reconcile.Event) {
	// The informer selects by name only, and a Lease of that name may be in any namespace.
	if e.Key.Namespace != l.key.Namespace {
		return
	}
	var record leaseRecord
	if !e.Deleted {
		record = l.read(e.Object)
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
	// One signal stands for any number of changes: update reads the latest record.
	case l.seen <- struct{}{}:
	default:
	}
}

// OnSynced implements reconcile.EventHandler.
func (l *Leader) OnSynced() {
	l.mu.Lock()
	l.known = true
	l.mu.Unlock()
	l.update(time.Now())
	close(l.synced)
}

// read answers what a Lease says; one that cannot be read is held by nobody.
func (l *Leader) read(o *meta.Object) leaseRecord {
	object, err := codec.DecodeStored(l.lease.Message(), o.JSON)
	if err != nil {
		return leaseRecord{}
	}
	return readLease(object)
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
