package reconcile

import (
	"context"
	"sync"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/selector"
)

// An Event is the current version of an object, or its deletion. A deletion may have only Key set,
// because it may have happened between two watches.
type Event struct {
	*meta.Object
	Deleted bool
}

// An Informer delivers the objects of a kind and their changes, until its context ends or the store
// closes. When a watch ends, it starts another watch with initial events, and reports objects that
// were deleted in between. Handlers may therefore receive an object again and must be idempotent.
// An Informer keeps only keys in memory.
type Informer struct {
	Client
	// Name, if set, restricts the watch to objects of that name in all namespaces.
	Name string

	// On is called for every existing object, and then for every change, ordered by version. It is
	// called by one goroutine at a time.
	On func(e Event)
	// Synced, if not nil, is called once, after all objects that existed at the start have been
	// delivered.
	Synced func()
	// Version, if not nil, is called with the version of the list after the initial events of each
	// watch. It may exceed the version of every object, because the newest change may be a delete.
	Version func(version uint64)

	running Exclusive        // guards known, epoch and synced
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

func (f *Informer) Run(ctx context.Context) { f.run(ctx, func() { f.watch(ctx, f.Kind) }) }

// run calls watch once no other call of run is in progress, unless the context is done first.
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

// WatchLoop watches the kind with initial events, until the context is done or the store closes.
// Before each watch, it calls begin with the watch's number, counted from 1. The function that
// begin returns receives the events. Watches do not overlap.
func (c Client) WatchLoop(ctx context.Context, begin func(round int) (take func([]request.Event) error)) {
	watchLoop(ctx, c.env.Store, request.Watch{Kind: c.Kind}, begin)
}

// InlineWatchLoop is like WatchLoop, but with request.Watch.Inline set.
func (c Client) InlineWatchLoop(ctx context.Context, begin func(round int) (take func([]request.Event) error)) {
	watchLoop(ctx, c.env.Store, request.Watch{Kind: c.Kind, Inline: true}, begin)
}

// watchLoop is like WatchLoop for the objects selected by what. It starts the next watch after the
// previous one has ended, so that handlers never run concurrently.
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

type watchSink struct {
	take  func([]request.Event) error
	ended chan struct{}
}

func (r *watchSink) Events(events []request.Event) error { return r.take(events) }

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

// deleteStale reports known objects as deleted if the watch's initial events did not include them.
// They were deleted while no watch was running.
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

// A KindSource returns the storage kind of a resource. The kind may change with its CRD.
type KindSource interface {
	// Changed returns a channel that is closed when the result of Kind may have changed.
	Changed() <-chan struct{}
	// Kind returns the current kind, or nil if there is no CRD for the resource.
	Kind() *schema.Kind
}

// RunResource is like Run, but takes the kind from source. When the kind changes, it delivers all
// objects again. When its CRD is deleted, it reports all objects as deleted. While source has no
// kind, the informer counts as synced.
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
