package controllers

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
)

// GarbageCollector deletes objects all of whose owners have been deleted, and completes deletes with
// propagation policy Orphan or Foreground. Watches of all kinds feed its graph of owner references,
// which may lag behind; so whatever is deleted or changed is decided on the objects in the store.
//
// The graph says where to look, the store what is true. That is why the graph may be late and hold so little.
type GarbageCollector struct {
	store  Store
	kinds  *catalog.Catalog
	events *reconcile.EventRecorder
	logger *slog.Logger

	customKinds    customKinds // those watched so far; one that is not served any more has no objects
	graph          *graph
	dependentQueue *reconcile.Workqueue[objectReference] // objects that may be garbage, or wait for their own dependents
	ownerQueue     *reconcile.Workqueue[objectReference] // owners whose orphan or foregroundDeletion finalizer may be due
	// unsynced counts the kinds whose initial events are outstanding; synced is closed when it is zero.
	unsynced atomic.Int64
	synced   chan struct{}
}

// NewGarbageCollector returns the controller for the kinds of a catalogue.
func NewGarbageCollector(store Store, kinds *catalog.Catalog, logger *slog.Logger) *GarbageCollector {
	g := &GarbageCollector{
		store: store, kinds: kinds, logger: logger, graph: newGraph(),
		events:         reconcile.NewEventRecorder(store, kinds, "garbage-collector-controller"),
		dependentQueue: reconcile.NewWorkqueue[objectReference]().Named("garbage_collector_attempt_to_delete"),
		ownerQueue:     reconcile.NewWorkqueue[objectReference]().Named("garbage_collector_attempt_to_orphan"), synced: make(chan struct{}),
	}
	return g
}

// Run runs the controller until the context ends. Nothing is deleted before the initial events of all
// kinds have arrived: until then the graph lacks dependents.
func (g *GarbageCollector) Run(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() { g.watchAllKinds(ctx) })
	select {
	case <-ctx.Done():
		return
	case <-g.synced:
	}
	for range reconcile.MaxWorkers {
		running.Go(func() { g.runDependentWorker(ctx) })
	}
	running.Go(func() { g.runOwnerWorker(ctx) })
}

// ownerWatch feeds the graph from one watch of a kind. Unlike an informer it remembers no keys: the
// graph knows by the epoch of its nodes which of them a restarted watch has not delivered again.
// epoch counts the watches of a kind: the first is 1.
type ownerWatch struct {
	garbage *GarbageCollector
	kind    *schema.Kind
	epoch   int
	initial bool // the kind is one of those that Run waits for
}

// It never answers an error, because there is nothing that a new watch would do better.
func (f *ownerWatch) take(events []request.Event) error {
	g := f.garbage
	for i := range events {
		switch e := &events[i]; {
		case e.InitialEventsEnd:
			f.markSynced()
		case e.Type == request.Deleted:
			g.enqueueDependents(g.graph.remove(e.Object.Meta.UID))
		case e.Type == request.Added, e.Type == request.Modified:
			g.enqueueDependents(g.graph.put(f.kind, e.Object, f.epoch))
			if isOrphaning(e.Object) {
				g.ownerQueue.Add(objectReferenceOf(f.kind, e.Object))
			}
		}
	}
	return nil
}

// markSynced is called when the initial events have been delivered. From the second watch on, objects
// that it did not deliver were deleted while there was no watch; before the first, owners may have come and gone.
func (f *ownerWatch) markSynced() {
	g := f.garbage
	g.enqueueDependents(g.graph.observeKind(groupKindOf(f.kind)))
	switch {
	case f.epoch > 1:
		g.enqueueDependents(g.graph.removeStale(f.kind, f.epoch))
	// Only the first watches of kinds that were there at the start count, so the channel is closed once.
	case f.initial && g.unsynced.Add(-1) == 0:
		close(g.synced)
	}
}

// enqueueDependents spares the lock of the queue where nothing is affected, as by most events.
func (g *GarbageCollector) enqueueDependents(references []objectReference) {
	if len(references) > 0 {
		g.dependentQueue.Add(references...)
	}
}

// get reads an object from the store; nil if it is deleted, or if its name belongs to an object with
// another uid.
//
// The uid is compared, since a name may belong to another object by now, and deleting that would be the one mistake
// that cannot be put right.
func (g *GarbageCollector) get(ctx context.Context, p objectReference) (*meta.Object, error) {
	o, err := g.store.Get(ctx, request.Get{Kind: p.kind.Unconverted(), Key: p.key()})
	if reconcile.IsNotFound(err) || err == nil && o.Meta.UID != p.uid.String() {
		return nil, nil
	}
	return o, err
}

// isForegroundDeleting reports whether an object is being deleted with propagation policy Foreground.
func isForegroundDeleting(o *meta.Object) bool {
	return o.Meta.Terminating && slices.Contains(o.Meta.Finalizers, meta.ForegroundFinalizer)
}

// isOrphaning reports whether an object is being deleted with propagation policy Orphan.
func isOrphaning(o *meta.Object) bool {
	return o.Meta.Terminating && slices.Contains(o.Meta.Finalizers, meta.OrphanFinalizer)
}
