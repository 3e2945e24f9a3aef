package reconcile

import (
	"context"
	"sync"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/selector"
)

// An Event is an object that exists or, if it is Deleted, has existed. Of a deleted object only the Key is certain
// to be set, as the delete may have happened between two watches.
type Event struct {
	*meta.Object
	Deleted bool
}

// An Informer delivers the objects of a kind and their changes, until its context ends or the store closes. A watch
// that ends is restarted with initial events; objects that were deleted in between are reported as gone.
//
// A handler may see an object again after a restart of the watch. So it compares with what it knows, and does not
// count. The Informer itself keeps keys and not objects.
type Informer struct {
	Client
	// Name selects the objects of one name, in all namespaces. Others cost nothing then. "" selects all.
	Name string

	// On is called with every object that exists, and then with every change, ordered by version. The handlers are called
	// by one goroutine at a time.
	On func(e Event)
	// Synced, if not nil, is called once, when all objects that existed at the start have been delivered.
	Synced func()
	// Version, if not nil, is called after the initial events of each watch with the version of their state, which may be
	// greater than that of every object: the newest change may be a deletion.
	Version func(version uint64)

	running Exclusive        // guards the next three
	known   map[meta.Key]int // the epoch in which an object was last delivered
	epoch   int              // number of the current watch
	synced  bool

	mu       sync.Mutex    // guards complete
	complete chan struct{} // closed when synced; nil before it is needed
}

// Updates returns a handler that ignores deletes.
func Updates(on func(o *meta.Object)) func(Event) {
	return func(e Event) {
		if !e.Deleted {
			on(e.Object)
		}
	}
}

// Run implements Source.
func (f *Informer) Run(ctx context.Context) { f.run(ctx, func() { f.watch(ctx, f.Kind) }) }

// run calls watch unless another goroutine does, and after that if the context has not ended.
func (f *Informer) run(ctx context.Context, watch func()) {
	f.running.Run(ctx, func() {
		if f.known == nil {
			f.known = map[meta.Key]int{}
		}
		watch()
		f.mu.Lock()
		f.synced, f.complete = false, nil
		f.mu.Unlock()
	})
}

// Wait implements Source.
func (f *Informer) Wait(ctx context.Context) bool {
	select {
	case <-f.completion():
		return true
	case <-ctx.Done():
		return false
	}
}

func (f *Informer) completion() chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.complete == nil {
		f.complete = make(chan struct{})
	}
	return f.complete
}

func (f *Informer) watch(ctx context.Context, k *schema.Kind) {
	what := request.Watch{Kind: k}
	if f.Name != "" {
		var err error
		if what.Fields, err = selector.ParseFields(k, "metadata.name="+f.Name); err != nil {
			panic(err) // every kind has that field
		}
	}
	watchLoop(ctx, f.env.Store, what, func(int) func([]request.Event) error {
		f.epoch++
		return f.take
	})
}

// WatchLoop watches the kind with initial events, until the context ends or the store closes. A watch
// that ends is restarted. Before each watch, begin is called with its number, from 1; it returns the
// function that receives the events. Watches do not overlap.
func (c Client) WatchLoop(ctx context.Context, begin func(round int) (take func([]request.Event) error)) {
	watchLoop(ctx, c.env.Store, request.Watch{Kind: c.Kind}, begin)
}

// watchLoop is WatchLoop for what a watch selects. It waits for the end of a watch before it begins the next: the handler
// never runs twice at a time.
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

func (f *Informer) take(events []request.Event) error {
	for i := range events {
		switch e := &events[i]; {
		case e.InitialEventsEnd:
			f.deleteStale()
			if f.Version != nil {
				f.Version(e.Version)
			}
		case e.Type == request.Deleted:
			delete(f.known, e.Object.Key)
			f.On(Event{e.Object, true})
		case e.Type == request.Added, e.Type == request.Modified:
			f.known[e.Object.Key] = f.epoch
			f.On(Event{e.Object, false})
		}
	}
	return nil
}

// deleteStale is called after the initial events of a watch. Known objects that it did not deliver
// were deleted while there was no watch.
//
// The initial events of the first watch have no predecessors, so nothing is stale then, and Synced follows.
func (f *Informer) deleteStale() {
	for key, epoch := range f.known {
		if epoch < f.epoch {
			delete(f.known, key)
			f.On(Event{&meta.Object{Key: key}, true})
		}
	}
	if f.synced {
		return
	}
	if f.synced = true; f.Synced != nil {
		f.Synced()
	}
	close(f.completion())
}

// A KindSource returns the kind in which the objects of a resource are stored. It changes when the
// definition of a custom resource is created, changed or deleted.
type KindSource interface {
	// Changed returns a channel that is closed when the result of Kind may differ from what it was before
	// this call.
	Changed() <-chan struct{}
	// Kind returns the kind in effect; nil while the resource is not defined.
	Kind() *schema.Kind
}

// RunResource is Run for a resource that may be undefined, in place of the Kind of the Informer. When its kind changes,
// all objects are delivered again in the new version; when its definition is deleted, all objects are
// reported as gone. An undefined resource counts as synced, because it has no objects.
func (f *Informer) RunResource(ctx context.Context, source KindSource) {
	f.run(ctx, func() {
		for ctx.Err() == nil {
			changed, k := source.Changed(), source.Kind()
			if k == nil {
				f.epoch++
				f.deleteStale()
				select {
				case <-changed:
				case <-ctx.Done():
				}
				continue
			}
			if !f.runUntilChanged(ctx, source, k) {
				return
			}
		}
	})
}

// runUntilChanged watches one kind. It returns true when the resource has another kind now, false
// when the context has ended or the store is closing.
func (f *Informer) runUntilChanged(ctx context.Context, source KindSource, k *schema.Kind) (changed bool) {
	if k.IsCustom() { // built-in kinds never change
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		defer cancel()
		go cancelWhenChanged(ctx, cancel, source, k)
	}
	f.watch(ctx, k)
	return source.Kind() != k
}

// cancelWhenChanged cancels the context when a resource is no longer stored as k.
func cancelWhenChanged(ctx context.Context, cancel context.CancelFunc, source KindSource, k *schema.Kind) {
	for {
		changed := source.Changed()
		if source.Kind() != k {
			cancel()
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}
