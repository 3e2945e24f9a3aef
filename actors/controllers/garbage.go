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

// Garbage deletes objects whose owners have all gone, and finishes deletes that ask for
// something to be done about dependents first: to go before their owner, or to be left alone.
// It learns from watches who owns whom, and decides on what the store holds at that time.
type Garbage struct {
	store  Store
	kinds  *catalog.Catalog
	logger *slog.Logger

	former     sync.Map // kinds that were followed, by what they call themselves
	graph      *graph
	dependents *backlog[place] // that may be garbage, or wait for their own dependents
	owners     *backlog[place] // that are to be let go
	// unread counts the kinds of which not everything has been seen; complete is closed with the last.
	unread   atomic.Int64
	complete chan struct{}
}

// NewGarbage makes the controller for the kinds of a catalogue.
func NewGarbage(store Store, kinds *catalog.Catalog, logger *slog.Logger) *Garbage {
	g := &Garbage{
		store: store, kinds: kinds, logger: logger, graph: newGraph(),
		dependents: newBacklog[place](), owners: newBacklog[place](), complete: make(chan struct{}),
	}
	return g
}

// collectors is how many dependents are looked at at a time.
const collectors = 64

// Run works until the context ends.
func (g *Garbage) Run(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() { g.followAll(ctx) })
	select {
	case <-ctx.Done():
		return
	case <-g.complete:
	}
	for range collectors {
		running.Go(func() { g.collect(ctx) })
	}
	running.Go(func() { g.release(ctx) })
}

// kinship is what one round tells of the objects of one kind. Unlike Follow it remembers none of
// them but those that matter, and these by their uid.
type kinship struct {
	garbage *Garbage
	kind    *schema.Kind
	round   int
	counts  bool // the kind has been there from the start
}

func (f *kinship) take(events []request.Event) error {
	g := f.garbage
	for i := range events {
		switch e := &events[i]; {
		case e.InitialEnd:
			f.read()
		case e.Type == request.Deleted:
			g.consider(g.graph.drop(e.Object.Head.UID))
		case e.Type == request.Added, e.Type == request.Modified:
			g.consider(g.graph.put(f.kind, e.Object, f.round))
			if orphaning(e.Object) {
				g.owners.add(placeOf(f.kind, e.Object))
			}
		}
	}
	return nil
}

// read is called when everything that there is has been seen.
func (f *kinship) read() {
	g := f.garbage
	switch {
	case f.round > 1:
		g.consider(g.graph.dropOlder(f.kind, f.round))
	case f.counts && g.unread.Add(-1) == 0:
		close(g.complete)
	}
}

func (g *Garbage) consider(places []place) {
	if len(places) > 0 {
		g.dependents.add(places...)
	}
}

// get is the object at a place as it is now; nil if that life of it has ended.
func (g *Garbage) get(ctx context.Context, p place) (*meta.Object, error) {
	o, err := g.store.Get(ctx, request.Get{Kind: p.kind, Key: p.key()})
	if gone(err) || err == nil && o.Head.UID != p.uid {
		return nil, nil
	}
	return o, err
}

// foreground tells an object that waits for its dependents to go.
func foreground(o *meta.Object) bool {
	return o.Head.Terminating && slices.Contains(o.Head.Finalizers, foregroundFinalizer)
}

// orphaning tells an object that waits for its dependents to be left alone.
func orphaning(o *meta.Object) bool {
	return o.Head.Terminating && slices.Contains(o.Head.Finalizers, orphanFinalizer)
}
