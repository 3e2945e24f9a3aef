package actors

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/google/uuid"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
)

// session is the actor of one watch: a cursor into its collection's history, a filter,
// and a sink to its client. It blocks on its client, and on nobody else.
type session struct {
	handle *watchHandle
	// Only the actor touches what follows.
	cursor   cursor
	initial  *snapshot // state to deliver first; nil once that is done
	sent     uint64    // newest version that the client knows of
	*scratch           // while it handles a message
}

// scratch is what a session reads into and delivers from. A quiet session has none, so that a
// burst leaves no memory behind at each of the watchers that it went to.
type scratch struct {
	records []*record
	buffer  []request.Event
}

var scratchPool = sync.Pool{New: func() any { return new(scratch) }}

// watchHandle is what others know of a session.
type watchHandle struct {
	collection  *collection
	watch       request.Watch
	sink        request.Sink
	pid         *actor.PID
	mailbox     *mailbox
	wakePending atomic.Bool  // a wake-up is on its way
	lastSent    atomic.Int64 // when the client last got something, unix nanoseconds
	stopping    atomic.Bool
	done        atomic.Bool // Done has been called
}

// wakeUp tells a session that there may be something to read.
type wakeUp struct{}

// bookmarkDue tells a session that its client has heard nothing for a while.
type bookmarkDue struct{}

// stopWatch ends a session.
type stopWatch struct{}

// eventBatch is how many events are delivered to a sink at once, at most.
const eventBatch = 256

// Stop implements request.Session.
func (l *watchHandle) Stop() {
	if !l.stopping.Swap(true) {
		l.mailbox.post(stopWatch{})
	}
}

// wake sends one wake-up, unless one is on its way. It returns what is then to be scheduled,
// if anything.
func (l *watchHandle) wake() (job func()) {
	if !l.wakePending.Swap(true) && l.mailbox.put(wakeUp{}) {
		return l.mailbox.job
	}
	return nil
}

// end closes a session from inside, once.
func (l *watchHandle) end() {
	l.collection.watchers.remove(l)
	if !l.done.Swap(true) {
		l.sink.Done()
	}
}

// Receive implements actor.Actor.
func (s *session) Receive(ctx actor.Context) {
	defer s.recover()
	switch ctx.Message().(type) {
	case *actor.Started:
		if s.handle.done.Load() { // restarted after a panic: the client has been told
			ctx.Stop(ctx.Self())
		}
	case wakeUp:
		s.handle.wakePending.Store(false)
		s.withScratch(ctx, s.advance)
	case bookmarkDue:
		s.withScratch(ctx, s.bookmark)
	case stopWatch:
		ctx.Stop(ctx.Self())
	case *actor.Stopping, *actor.Restarting:
		s.handle.end()
	}
}

// withScratch does something at a desk. One at which it panics is not used again.
func (s *session) withScratch(ctx actor.Context, do func(actor.Context)) {
	s.scratch = scratchPool.Get().(*scratch)
	do(ctx)
	scratchPool.Put(s.scratch)
	s.scratch = nil
}

// recover ends the watch of a session that has panicked: its client has to come again.
func (s *session) recover() {
	reason := recover()
	if reason == nil {
		return
	}
	id := uuid.NewString()
	s.handle.collection.store.logger.Error("panic in a watch", "id", id, "reason", fmt.Sprint(reason), "stack", string(debug.Stack()))
	s.handle.end()
	panic(reason)
}

// start places a session that delivers the state first. The place after the state is
// gone if the history was trimmed in between; then it takes the state anew.
func (s *session) start(ctx context.Context, r request.Watch) error {
	match := request.MatchMostRecent
	if r.Version > 0 {
		match = request.MatchNotOlderThan
	}
	for placed := false; !placed; {
		state, version, err := s.handle.collection.snapshotFor(ctx, match, r.Version)
		if err != nil {
			return err
		}
		s.initial, s.sent = state, version
		s.cursor, placed = s.handle.collection.history.seek(version)
	}
	return nil
}

// advance delivers what is new, until there is nothing more or the watch ends.
func (s *session) advance(ctx actor.Context) {
	if s.handle.done.Load() {
		return
	}
	if s.initial != nil && !s.deliverInitial() {
		ctx.Stop(ctx.Self())
		return
	}
	for !s.handle.stopping.Load() {
		var ok bool
		s.records, ok = s.cursor.read(s.records[:0], eventBatch)
		read := len(s.records)
		alive := read == 0 || s.deliver()
		if alive && !ok {
			s.expire()
		}
		if !alive || !ok {
			ctx.Stop(ctx.Self())
		}
		if !alive || !ok || read < eventBatch {
			return
		}
	}
}

// deliverInitial sends the state as synthetic events.
func (s *session) deliverInitial() bool {
	w, alive := &s.handle.watch, true
	s.buffer = s.buffer[:0]
	s.initial.candidates(w.Fields, w.Namespace, "", func(_ string, o *meta.Object) bool {
		if s.matches(o) {
			s.buffer = append(s.buffer, request.Event{Type: request.Added, Object: o})
		}
		if len(s.buffer) == eventBatch {
			alive = s.flush()
		}
		return alive && !s.handle.stopping.Load()
	})
	version := max(s.sent, s.initial.version)
	s.initial = nil
	if w.MarkInitialEventsEnd {
		s.buffer = append(s.buffer, request.Event{Type: request.Bookmark, Version: version, InitialEventsEnd: true})
	}
	return alive && s.flush()
}

// deliver turns the records that were read into events and sends them.
func (s *session) deliver() bool {
	s.buffer = s.buffer[:0]
	for _, r := range s.records {
		if e, ok := s.event(r); ok {
			s.buffer = append(s.buffer, e)
		}
		s.sent = max(s.sent, r.version)
	}
	clear(s.records)
	return s.flush()
}

// flush hands the buffer to the sink.
func (s *session) flush() bool {
	if len(s.buffer) == 0 {
		return true
	}
	err := s.handle.sink.Events(s.buffer)
	s.handle.collection.store.metrics.events.Add(uint64(len(s.buffer)))
	clear(s.buffer)
	s.buffer = s.buffer[:0]
	s.handle.lastSent.Store(s.handle.collection.store.now().UnixNano())
	return err == nil
}

// event is what a change means to this watch; ok is false if nothing.
func (s *session) event(r *record) (e request.Event, ok bool) {
	if ns := s.handle.watch.Namespace; ns != "" && r.object.Key.Namespace != ns {
		return e, false
	}
	before := r.previous
	if before == nil && r.kind != created {
		before = r.object // selects alike
	}
	was := before != nil && s.matches(before)
	switch is := r.kind != removed && s.matches(r.object); {
	case is && was:
		return request.Event{Type: request.Modified, Object: r.object}, true
	case is:
		return request.Event{Type: request.Added, Object: r.object}, true
	case was && r.kind == removed:
		return request.Event{Type: request.Deleted, Object: r.object}, true
	case was:
		return request.Event{Type: request.Deleted, Object: s.handle.collection.history.deselected(r)}, true
	}
	return e, false
}

// matches holds an object against both selectors.
func (s *session) matches(o *meta.Object) bool {
	w := &s.handle.watch
	return (w.Labels.Empty() || w.Labels.Matches(o.Meta.Labels)) && (w.Fields.Empty() || w.Fields.Matches(o))
}

// bookmark tells the client how far it is, after everything up to there.
func (s *session) bookmark(ctx actor.Context) {
	if s.initial != nil {
		return
	}
	version := max(s.handle.collection.store.appliedRevision.get(), s.sent) // before the last look into the history
	s.advance(ctx)
	if s.handle.stopping.Load() || s.handle.done.Load() {
		return
	}
	s.sent = max(s.sent, version)
	s.buffer = append(s.buffer[:0], request.Event{Type: request.Bookmark, Version: s.sent})
	if !s.flush() {
		ctx.Stop(ctx.Self())
	}
}

// expire tells the client that its place is no longer in the history.
func (s *session) expire() {
	s.buffer = append(s.buffer[:0], request.Event{Type: request.Error, Status: tooOld(s.cursor.after, s.handle.collection.history.floor.Load())})
	s.flush()
}

func tooOld(version, floor uint64) *meta.Status {
	return meta.NewExpired(fmt.Sprintf("too old resource version: %d (%d)", version, floor))
}
