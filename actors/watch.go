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

// watch is one running watch: an actor with a cursor into the collection's history, a filter, and a
// sink to its client. It may block on its client or a conversion. It is registered in watchers from
// Store.Watch until it ends.
type watch struct {
	collection *collection
	request    request.Watch
	sink       request.Sink
	ref        *runtime.Ref
	converts   bool               // the client requests a form other than the stored one
	selects    bool               // its selectors apply to that form
	everything bool               // it has no selectors
	ctx        context.Context    // context of conversions that may block
	cancel     context.CancelFunc // cancels ctx; nil if no conversion may block

	// unread is the version of the oldest unread change that the watch may select, or 0. While it
	// is not 0, a wakeUp is queued.
	unread   atomic.Uint64
	lastSent atomic.Int64 // when the client last received an event, Unix nanoseconds
	stopping atomic.Bool
	done     atomic.Bool // the sink's Done was called

	// Used only by the actor:
	cursor   cursor
	initial  *snapshot // state to deliver first; nil after that
	sent     uint64    // newest version known to the client
	*scratch           // while a message is handled
}

type wakeUp struct{}

// finish asks a watch to deliver all changes, send a bookmark if requested, and end.
type finish struct{}

// bookmarkDue is sent when the client has not received any event for some time.
type bookmarkDue struct{}

// Watch starts a watch that sends its events to sink.
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
		selects: selectsConverted(r.Kind, r.Labels, r.Fields), everything: r.Labels.Empty() && r.Fields.Empty(),
	}
	w.lastSent.Store(s.now().UnixNano())
	if err := w.seek(ctx); err != nil {
		return nil, err
	}
	if s.conversions.MayWait(r.Kind) {
		w.ctx, w.cancel = context.WithCancel(w.ctx)
	}
	w.ref = s.runtime.Spawn(runtime.Spec{New: func() runtime.Owner { return w }})
	w.unread.Store(1) // read everything after the cursor, because changes before add send no wakeUp
	w.collection.watchers.add(w)
	if r.Kind.IsCustom() && r.Kind.Stored != w.collection.kind() {
		w.Stop() // the CRD has changed in the meantime, and RegisterKind did not see this watch
	}
	if s.collection(r.Kind) != c {
		w.Stop() // the CRD was deleted in the meantime
	}
	w.ref.Send(wakeUp{})
	return w, nil
}

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

// seekInitial sets the initial state and positions the cursor after it. If the history has already
// dropped that position, it uses a newer state.
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

func (w *watch) Stop() {
	if !w.stopping.Swap(true) {
		if w.cancel != nil {
			w.cancel()
		}
		w.ref.Stop()
	}
}

func (w *watch) Finish() { w.ref.Send(finish{}) }

func (w *watch) Receive(self *runtime.Ref, message any) {
	defer w.recover()
	w.scratch = scratchPool.Get().(*scratch)
	switch message.(type) {
	case runtime.Started:
		if w.done.Load() { // restarted after a panic, after the client was informed
			self.Stop()
		}
	case wakeUp:
		w.advance(self)
	case bookmarkDue:
		w.bookmark(self)
	case finish:
		if w.request.Bookmarks && w.initial == nil {
			w.bookmark(self)
		} else {
			w.advance(self)
		}
		self.Stop()
	case runtime.Stopping, runtime.Restarting:
		w.end()
	}
	scratchPool.Put(w.scratch) // not after a panic
	w.scratch = nil
}

// recover ends a watch that has panicked, so that its client reconnects. The supervisor handles the
// panic.
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

func (w *watch) end() {
	w.collection.watchers.remove(w)
	if !w.done.Swap(true) {
		if w.cancel != nil {
			w.cancel()
		}
		w.sink.Done()
	}
}
