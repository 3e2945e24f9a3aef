package controllers

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
)

// The finalizers by which a delete asks for something to be done about dependents first.
const (
	orphanFinalizer     = "orphan"
	foregroundFinalizer = "foregroundDeletion"
)

// GarbageCollector deletes objects whose owners have all gone, and finishes deletes that ask for
// something to be done about dependents first: to go before their owner, or to be left alone.
// It learns from watches who owns whom, and decides on what the store holds at that time.
type GarbageCollector struct {
	store  Store
	kinds  *catalog.Catalog
	logger *slog.Logger

	formerKinds    sync.Map // kinds that were followed, by what they call themselves
	graph          *graph
	dependentQueue *workqueue[objectReference] // that may be garbage, or wait for their own dependents
	ownerQueue     *workqueue[objectReference] // that are to be let go
	// unsynced counts the kinds of which not everything has been seen; complete is closed with the last.
	unsynced atomic.Int64
	synced   chan struct{}
}

// NewGarbageCollector makes the controller for the kinds of a catalogue.
func NewGarbageCollector(store Store, kinds *catalog.Catalog, logger *slog.Logger) *GarbageCollector {
	g := &GarbageCollector{
		store: store, kinds: kinds, logger: logger, graph: newGraph(),
		dependentQueue: newWorkqueue[objectReference](), ownerQueue: newWorkqueue[objectReference](), synced: make(chan struct{}),
	}
	return g
}

// maxWorkers is how many dependents are looked at at a time.
const maxWorkers = 64

// Run works until the context ends.
func (g *GarbageCollector) Run(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() { g.watchAllKinds(ctx) })
	select {
	case <-ctx.Done():
		return
	case <-g.synced:
	}
	for range maxWorkers {
		running.Go(func() { g.runDependentWorker(ctx) })
	}
	running.Go(func() { g.runOwnerWorker(ctx) })
}

// ownerWatch is what one round tells of the objects of one kind. Unlike Follow it remembers none of
// them but those that matter, and these by their uid.
type ownerWatch struct {
	garbage *GarbageCollector
	kind    *schema.Kind
	epoch   int
	initial bool // the kind has been there from the start
}

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
				g.ownerQueue.add(objectReferenceOf(f.kind, e.Object))
			}
		}
	}
	return nil
}

// markSynced is called when everything that there is has been seen.
func (f *ownerWatch) markSynced() {
	g := f.garbage
	switch {
	case f.epoch > 1:
		g.enqueueDependents(g.graph.removeStale(f.kind, f.epoch))
	case f.initial && g.unsynced.Add(-1) == 0:
		close(g.synced)
	}
}

func (g *GarbageCollector) enqueueDependents(references []objectReference) {
	if len(references) > 0 {
		g.dependentQueue.add(references...)
	}
}

// get is the object at a place as it is now; nil if that life of it has ended.
func (g *GarbageCollector) get(ctx context.Context, p objectReference) (*meta.Object, error) {
	o, err := g.store.Get(ctx, request.Get{Kind: p.kind, Key: p.key()})
	if isNotFound(err) || err == nil && o.Meta.UID != p.uid {
		return nil, nil
	}
	return o, err
}

// isForegroundDeleting tells an object that waits for its dependents to go.
func isForegroundDeleting(o *meta.Object) bool {
	return o.Meta.Terminating && slices.Contains(o.Meta.Finalizers, foregroundFinalizer)
}

// isOrphaning tells an object that waits for its dependents to be left alone.
func isOrphaning(o *meta.Object) bool {
	return o.Meta.Terminating && slices.Contains(o.Meta.Finalizers, orphanFinalizer)
}
