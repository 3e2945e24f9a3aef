package controllers

import (
	"context"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
)

// An Observer learns of the objects of one kind, by calls from one goroutine at a time.
type EventHandler interface {
	// OnEvent is called with every object that there is, and then with every change, in the order
	// of their versions. Of an object that has gone, only the Key is certain.
	OnEvent(o *meta.Object, gone bool)
	// OnSynced is called once, when everything that there was has been seen.
	OnSynced()
}

// An observer is an Observer that does not care when everything has been seen.
type eventHandlerFunc func(o *meta.Object, gone bool)

// OnEvent implements Observer.
func (f eventHandlerFunc) OnEvent(o *meta.Object, gone bool) { f(o, gone) }

// OnSynced implements Observer.
func (eventHandlerFunc) OnSynced() {}

// RunInformer tells an Observer of the objects of a kind, until the context ends or the store
// closes. A watch that ends is begun anew, with all that there is by then.
func RunInformer(ctx context.Context, store Store, k *schema.Kind, handler EventHandler) {
	f := &informer{handler: handler, known: map[meta.Key]int{}}
	watchLoop(ctx, store, k, func(epoch int) func([]request.Event) error {
		f.epoch = epoch
		return f.take
	})
}

// watchLoop watches a kind, with all that there is, until the context ends or the store closes:
// when a watch ends, the next round begins. begin gives what takes the events of a round, the
// first one being 1; rounds come one after the other.
func watchLoop(ctx context.Context, store Store, k *schema.Kind, begin func(round int) (take func([]request.Event) error)) {
	for n := 1; ctx.Err() == nil; n++ {
		r := &watchSink{take: begin(n), ended: make(chan struct{})}
		session, err := store.Watch(ctx, request.Watch{Kind: k, SendInitialEvents: true, MarkInitialEventsEnd: true}, r)
		if err != nil {
			return // the store is closing
		}
		select {
		case <-ctx.Done():
		case <-r.ended:
		}
		session.Stop()
		<-r.ended
	}
}

// A round is the sink of one watch.
type watchSink struct {
	take  func([]request.Event) error
	ended chan struct{}
}

// Events implements request.Sink.
func (r *watchSink) Events(events []request.Event) error { return r.take(events) }

// Done implements request.Sink.
func (r *watchSink) Done() { close(r.ended) }

// A follower is what one Follow knows.
type informer struct {
	handler EventHandler
	known   map[meta.Key]int // the round in which an object was last seen
	epoch   int
	synced  bool // everything has been seen once
}

func (f *informer) take(events []request.Event) error {
	for i := range events {
		switch e := &events[i]; {
		case e.InitialEventsEnd:
			f.deleteStale()
		case e.Type == request.Deleted:
			delete(f.known, e.Object.Key)
			f.handler.OnEvent(e.Object, true)
		case e.Type == request.Added, e.Type == request.Modified:
			f.remember(e.Object.Key)
			f.handler.OnEvent(e.Object, false)
		}
	}
	return nil
}

// remember remembers a key without the object whose memory its texts share.
func (f *informer) remember(key meta.Key) {
	if _, known := f.known[key]; !known {
		key = cloneKey(key)
	}
	f.known[key] = f.epoch
}

// cloneKey is a key that shares no memory with an object.
func cloneKey(key meta.Key) meta.Key {
	key.Namespace, key.Name = strings.Clone(key.Namespace), strings.Clone(key.Name)
	return key
}

// deleteStale is called when a round has shown all that there is: what was known and has not come
// again has gone meanwhile.
func (f *informer) deleteStale() {
	for key, epoch := range f.known {
		if epoch < f.epoch {
			delete(f.known, key)
			f.handler.OnEvent(&meta.Object{Key: key}, true)
		}
	}
	if !f.synced {
		f.synced = true
		f.handler.OnSynced()
	}
}
