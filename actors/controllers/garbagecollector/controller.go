package garbagecollector

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
)

// Controller deletes objects whose owners have all been deleted. It also completes deletes with
// propagation policy Orphan or Foreground.
type Controller struct {
	*reconcile.Controller[objectReference] // queue of objects whose owners may be gone

	customKinds customKinds
	graph       *graph
	ownerQueue  *reconcile.Workqueue[objectReference] // owners that are being deleted

	unsynced atomic.Int64  // kinds that are not fully listed yet
	synced   chan struct{} // closed when there are none
}

func New(env *reconcile.Env) *Controller {
	g := &Controller{
		graph: newGraph(), synced: make(chan struct{}),
		ownerQueue: reconcile.NewWorkqueue[objectReference]().Named("garbage_collector_attempt_to_orphan"),
	}
	g.Controller = reconcile.New(env, "garbage_collector_attempt_to_delete", g.processDependent, "", "")
	g.Failed = g.logFailure
	g.From(allKinds{g})
	g.Go(g.runOwnerWorker)
	return g
}

type allKinds struct{ *Controller }

func (a allKinds) Run(ctx context.Context) { a.watchAllKinds(ctx) }

func (a allKinds) Wait(ctx context.Context) bool {
	select {
	case <-a.synced:
		return true
	case <-ctx.Done():
		return false
	}
}

// ownerWatch feeds the events of one watch into the graph. Unlike an informer, it does not remember
// the keys of objects. epoch numbers the watches of a kind from 1. After a watch restarts, a node
// with an older epoch represents an object that the new watch has not delivered.
type ownerWatch struct {
	garbage *Controller
	kind    *schema.Kind
	epoch   int
	initial bool // the kind is one of those that Run waits for
}

func (f *ownerWatch) take(events []request.Event) error {
	g := f.garbage
	for i := range events {
		switch e := &events[i]; {
		case e.InitialEventsEnd:
			f.markSynced()
		case e.Type == request.Deleted:
			g.Add(g.graph.remove(e.Object.Meta.UID)...)
		case e.Type == request.Added, e.Type == request.Modified:
			if affected := g.graph.put(f.kind, e.Object, f.epoch); len(affected) > 0 {
				g.Add(affected...)
			}
			if isOrphaning(e.Object) {
				g.ownerQueue.Add(objectReferenceOf(f.kind, e.Object))
			}
		}
	}
	return nil
}

// markSynced is called after the initial events of a watch. It enqueues the dependents that awaited
// the kind, because their owners may already have been deleted. After a restart, it also removes
// objects that the new watch has not delivered, which were deleted while no watch was running.
func (f *ownerWatch) markSynced() {
	g := f.garbage
	g.Add(g.graph.observeKind(f.kind.GroupKind())...)
	switch {
	case f.epoch > 1:
		g.Add(g.graph.removeStale(f.kind, f.epoch)...)
	// Run waits only for the first watch of each kind that exists at startup, so synced is closed
	// only once.
	case f.initial && g.unsynced.Add(-1) == 0:
		close(g.synced)
	}
}

// get returns the object to which p refers, or nil if it does not exist. An object with this name
// but another uid must not be deleted, so get returns nil for it, too.
func (g *Controller) get(ctx context.Context, p objectReference) (*meta.Object, error) {
	o, err := g.ClientOf(p.kind).Get(ctx, p.key())
	if o != nil && o.Meta.UID != p.uid.String() {
		return nil, nil
	}
	return o, err
}

func isForegroundDeleting(o *meta.Object) bool {
	return o.Meta.Terminating && slices.Contains(o.Meta.Finalizers, meta.ForegroundFinalizer)
}

func isOrphaning(o *meta.Object) bool {
	return o.Meta.Terminating && slices.Contains(o.Meta.Finalizers, meta.OrphanFinalizer)
}
