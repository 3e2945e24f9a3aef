package actors

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync/atomic"

	"github.com/google/uuid"

	"github.com/troupe-api/troupe/actors/internal/runtime"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
)

// watch is one running watch: an actor with a cursor into its collection's history, a filter, and a
// sink to its client. It may block on its client, or on the conversion of what the client is to get.
// It is registered in its collection (watchers) from Store.Watch until it ends.
type watch struct {
	collection *collection
	request    request.Watch
	sink       request.Sink
	ref        *runtime.Ref
	converts   bool               // the client watches another form than the stored one
	selects    bool               // its selectors are held against that form
	ctx        context.Context    // of conversions that may wait
	cancel     context.CancelFunc // of ctx; nil if no conversion may wait

	// unread is the version of the oldest change that may concern the watch and that it has not begun to read; 0 if
	// there is none. While it is not 0 a wakeUp is queued.
	unread   atomic.Uint64
	lastSent atomic.Int64 // when the client last got something, unix nanoseconds
	stopping atomic.Bool
	done     atomic.Bool // the sink's Done has been called

	// Only the actor touches what follows.
	cursor   cursor
	initial  *snapshot // state to deliver first; nil once that is done
	sent     uint64    // newest version that the client knows of
	*scratch           // while a message is handled
}

// wakeUp tells a watch that there may be something to read.
type wakeUp struct{}

// finish tells a watch to deliver what there is, and then to end.
type finish struct{}

// bookmarkDue tells a watch that its client has heard nothing for a while.
type bookmarkDue struct{}

// Watch starts a watch that feeds a sink.
func (s *Store) Watch(ctx context.Context, r request.Watch, sink request.Sink) (request.Session, error) {
	if s.closing.Load() {
		return nil, meta.NewServiceUnavailable("the server is stopping")
	}
	c := s.collection(r.Kind)
	if c == nil {
		return nil, s.errUndefined(r.Kind)
	}
	w := &watch{
		collection: c, request: r, sink: sink, converts: s.conversions.Form(r.Kind).Converter != nil, ctx: context.Background(),
		selects: selectsConverted(r.Kind, r.Labels, r.Fields),
	}
	w.lastSent.Store(s.now().UnixNano())
	if err := w.seek(ctx); err != nil {
		return nil, err
	}
	if s.conversions.MayWait(r.Kind) {
		w.ctx, w.cancel = context.WithCancel(w.ctx)
	}
	w.ref = s.runtime.Spawn(runtime.Spec{New: func() runtime.Owner { return w }})
	w.unread.Store(1) // everything behind the cursor: nobody tells what changes before add
	w.collection.watchers.add(w)
	if r.Kind.IsCustom() && r.Kind.Stored != w.collection.kind() {
		w.Stop() // the definition has changed meanwhile, and RegisterKind did not see this watch
	}
	if s.collection(r.Kind) != c {
		w.Stop() // the definition has gone meanwhile
	}
	w.ref.Send(wakeUp{})
	return w, nil
}

// seek finds where the watch begins: after a version, or with the state of now.
func (w *watch) seek(ctx context.Context) error {
	if w.request.SendInitialEvents {
		return w.seekInitial(ctx)
	}
	at, ok := w.collection.history.seek(w.request.Version)
	if !ok {
		return tooOld(w.request.Version, w.collection.history.floor.Load())
	}
	w.cursor, w.sent = at, w.request.Version
	return nil
}

// seekInitial takes the state that is delivered first, and the cursor behind it. If the history has
// dropped that place meanwhile, it takes a newer state.
func (w *watch) seekInitial(ctx context.Context) error {
	match := request.MatchMostRecent
	if w.request.Version > 0 {
		match = request.MatchNotOlderThan
	}
	for found := false; !found; {
		state, version, err := w.collection.snapshotFor(ctx, match, w.request.Version)
		if err != nil {
			return err
		}
		w.initial, w.sent = state, version
		w.cursor, found = w.collection.history.seek(version)
	}
	return nil
}

// Stop implements request.Session.
func (w *watch) Stop() {
	if !w.stopping.Swap(true) {
		if w.cancel != nil {
			w.cancel()
		}
		w.ref.Stop()
	}
}

// Receive implements runtime.Owner.
func (w *watch) Receive(self *runtime.Ref, message any) {
	defer w.recover()
	switch message.(type) {
	case runtime.Started:
		if w.done.Load() { // restarted after a panic, when the client has been told already
			self.Stop()
		}
	case wakeUp:
		w.withScratch(self, w.advance)
	case bookmarkDue:
		w.withScratch(self, w.bookmark)
	case finish:
		w.withScratch(self, w.advance)
		self.Stop()
	case runtime.Stopping, runtime.Restarting:
		w.end()
	}
}

// recover ends a watch that has panicked: its client has to start another. The panic goes on to the
// supervisor.
func (w *watch) recover() {
	reason := recover()
	if reason == nil {
		return
	}
	id := uuid.NewString()
	w.collection.store.logger.Error("panic in a watch", "id", id, "reason", fmt.Sprint(reason), "stack", string(debug.Stack()))
	w.end()
	panic(reason)
}

// end takes the watch out of the registry and tells the sink, once.
func (w *watch) end() {
	w.collection.watchers.remove(w)
	if !w.done.Swap(true) {
		if w.cancel != nil {
			w.cancel()
		}
		w.sink.Done()
	}
}
