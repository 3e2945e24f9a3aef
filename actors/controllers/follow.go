package controllers

import (
	"context"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
)

// An Observer learns of the objects of one kind, by calls from one goroutine at a time.
type Observer interface {
	// See is called with every object that there is, and then with every change, in the order
	// of their versions. Of an object that has gone, only the Key is certain.
	See(o *meta.Object, gone bool)
	// Read is called once, when everything that there was has been seen.
	Read()
}

// An observer is an Observer that does not care when everything has been seen.
type observer func(o *meta.Object, gone bool)

// See implements Observer.
func (f observer) See(o *meta.Object, gone bool) { f(o, gone) }

// Read implements Observer.
func (observer) Read() {}

// Follow tells an Observer of the objects of a kind, until the context ends or the store
// closes. A watch that ends is begun anew, with all that there is by then.
func Follow(ctx context.Context, store Store, k *schema.Kind, to Observer) {
	f := &follower{to: to, known: map[meta.Key]int{}}
	rounds(ctx, store, k, func(round int) func([]request.Event) error {
		f.round = round
		return f.take
	})
}

// rounds watches a kind, with all that there is, until the context ends or the store closes:
// when a watch ends, the next round begins. begin gives what takes the events of a round, the
// first one being 1; rounds come one after the other.
func rounds(ctx context.Context, store Store, k *schema.Kind, begin func(round int) (take func([]request.Event) error)) {
	for n := 1; ctx.Err() == nil; n++ {
		r := &round{take: begin(n), ended: make(chan struct{})}
		session, err := store.Watch(ctx, request.Watch{Kind: k, Initial: true, InitialEnd: true}, r)
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
type round struct {
	take  func([]request.Event) error
	ended chan struct{}
}

// Events implements request.Sink.
func (r *round) Events(events []request.Event) error { return r.take(events) }

// Done implements request.Sink.
func (r *round) Done() { close(r.ended) }

// A follower is what one Follow knows.
type follower struct {
	to    Observer
	known map[meta.Key]int // the round in which an object was last seen
	round int
	read  bool // everything has been seen once
}

func (f *follower) take(events []request.Event) error {
	for i := range events {
		switch e := &events[i]; {
		case e.InitialEnd:
			f.sweep()
		case e.Type == request.Deleted:
			delete(f.known, e.Object.Key)
			f.to.See(e.Object, true)
		case e.Type == request.Added, e.Type == request.Modified:
			f.know(e.Object.Key)
			f.to.See(e.Object, false)
		}
	}
	return nil
}

// know remembers a key without the object whose memory its texts share.
func (f *follower) know(key meta.Key) {
	if _, known := f.known[key]; !known {
		key = own(key)
	}
	f.known[key] = f.round
}

// own is a key that shares no memory with an object.
func own(key meta.Key) meta.Key {
	key.Namespace, key.Name = strings.Clone(key.Namespace), strings.Clone(key.Name)
	return key
}

// sweep is called when a round has shown all that there is: what was known and has not come
// again has gone meanwhile.
func (f *follower) sweep() {
	for key, round := range f.known {
		if round < f.round {
			delete(f.known, key)
			f.to.See(&meta.Object{Key: key}, true)
		}
	}
	if !f.read {
		f.read = true
		f.to.Read()
	}
}
