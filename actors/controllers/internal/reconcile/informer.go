package reconcile

import (
	"context"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/selector"
)

// EventHandler receives the objects of a kind from an informer. Its methods are called by one
// goroutine at a time.
type EventHandler interface {
	// OnEvent is called with every object that exists, and then with every change, ordered by version.
	OnEvent(e Event)
	// OnSynced is called once, when all objects that existed at the start have been delivered.
	OnSynced()
}

// An Event is an object that exists or, if it is Deleted, has existed. Of a deleted object only the Key is certain
// to be set, as the delete may have happened between two watches.
type Event struct {
	*meta.Object
	Deleted bool
}

// A VersionHandler is an EventHandler that follows versions. OnVersion is called after the initial
// events of each watch with the version of their state, which may be greater than that of every
// object: the newest change may be a deletion.
type VersionHandler interface{ OnVersion(version uint64) }

// EventHandlerFunc is an EventHandler that ignores OnSynced.
type EventHandlerFunc func(e Event)

func (f EventHandlerFunc) OnEvent(e Event) { f(e) }

func (EventHandlerFunc) OnSynced() {}

// An UpdateHandlerFunc is an EventHandler that ignores deletes and OnSynced.
type UpdateHandlerFunc func(o *meta.Object)

func (f UpdateHandlerFunc) OnEvent(e Event) {
	if !e.Deleted {
		f(e.Object)
	}
}

func (UpdateHandlerFunc) OnSynced() {}

// RunInformer delivers the objects of a kind and their changes to a handler, until the context ends or
// the store closes. A watch that ends is restarted with initial events; objects that were deleted in
// between are reported as gone.
//
// A handler may see an object again after a restart of the watch. So it compares with
// what it knows, and does not count.
func RunInformer(ctx context.Context, store Store, k *schema.Kind, handler EventHandler) {
	f := &informer{handler: handler, known: map[meta.Key]int{}}
	WatchLoop(ctx, store, k, func(epoch int) func([]request.Event) error {
		f.epoch = epoch
		return f.take
	})
}

// RunNamedInformer is RunInformer for the objects of one name, in all namespaces. It knows of no others, so it costs little
// where there are many.
func RunNamedInformer(ctx context.Context, store Store, k *schema.Kind, name string, handler EventHandler) {
	fields, err := selector.ParseFields(k, "metadata.name="+name)
	if err != nil {
		panic(err) // every kind has that field
	}
	f := &informer{handler: handler, known: map[meta.Key]int{}}
	watchLoop(ctx, store, request.Watch{Kind: k, Fields: fields}, func(epoch int) func([]request.Event) error {
		f.epoch = epoch
		return f.take
	})
}

// WatchLoop watches a kind with initial events, until the context ends or the store closes. A watch
// that ends is restarted. Before each watch, begin is called with its number, from 1; it returns the
// function that receives the events. Watches do not overlap.
//
// It waits for the end of a watch before it begins the next: the handler never runs twice at a time.
func WatchLoop(ctx context.Context, store Store, k *schema.Kind, begin func(round int) (take func([]request.Event) error)) {
	watchLoop(ctx, store, request.Watch{Kind: k}, begin)
}

// watchLoop is WatchLoop for what a watch selects.
func watchLoop(ctx context.Context, store Store, what request.Watch, begin func(round int) (take func([]request.Event) error)) {
	what.Kind, what.SendInitialEvents, what.MarkInitialEventsEnd = what.Kind.Unconverted(), true, true
	for n := 1; ctx.Err() == nil; n++ {
		r := &watchSink{take: begin(n), ended: make(chan struct{})}
		session, err := store.Watch(ctx, what, r)
		if err != nil {
			return // Watch fails only while the store closes
		}
		select {
		case <-ctx.Done():
		case <-r.ended:
		}
		session.Stop()
		<-r.ended
	}
}

// watchSink is the request.Sink of one watch.
type watchSink struct {
	take  func([]request.Event) error
	ended chan struct{}
}

// Events implements request.Sink.
func (r *watchSink) Events(events []request.Event) error { return r.take(events) }

// Done implements request.Sink.
func (r *watchSink) Done() { close(r.ended) }

// informer is the state of RunInformer over all of its watches.
//
// It keeps keys and not objects: what a handler needs of an object it keeps itself.
type informer struct {
	handler EventHandler
	known   map[meta.Key]int // the epoch in which an object was last delivered
	epoch   int              // number of the current watch
	synced  bool             // OnSynced has been called
}

func (f *informer) take(events []request.Event) error {
	for i := range events {
		switch e := &events[i]; {
		case e.InitialEventsEnd:
			f.deleteStale()
			if h, ok := f.handler.(VersionHandler); ok {
				h.OnVersion(e.Version)
			}
		case e.Type == request.Deleted:
			delete(f.known, e.Object.Key)
			f.handler.OnEvent(Event{e.Object, true})
		case e.Type == request.Added, e.Type == request.Modified:
			f.known[e.Object.Key] = f.epoch
			f.handler.OnEvent(Event{e.Object, false})
		}
	}
	return nil
}

// deleteStale is called after the initial events of a watch. Known objects that it did not deliver
// were deleted while there was no watch.
//
// The initial events of the first watch have no predecessors, so nothing is stale then, and OnSynced follows.
func (f *informer) deleteStale() {
	for key, epoch := range f.known {
		if epoch < f.epoch {
			delete(f.known, key)
			f.handler.OnEvent(Event{&meta.Object{Key: key}, true})
		}
	}
	if !f.synced {
		f.synced = true
		f.handler.OnSynced()
	}
}
