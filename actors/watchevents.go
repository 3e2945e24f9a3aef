package actors

import (
	"fmt"
	"sync"

	"github.com/troupe-api/troupe/actors/internal/runtime"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/selector"
)

// A watch's actor reads the history, selects the changes for its client, converts them to the
// requested version, and sends them.

// scratch holds the records and events of a watch while it handles a message. Watches share a pool
// of scratch values, so that idle watches retain no buffers.
type scratch struct {
	records []*record
	buffer  []request.Event
}

var scratchPool = sync.Pool{New: func() any { return new(scratch) }}

// eventBatch is the maximum number of events delivered to a sink in one call.
const eventBatch = 256

func (w *watch) advance(self *runtime.Ref) {
	if w.done.Load() {
		return
	}
	if w.initial != nil && !w.deliverInitial() {
		self.Stop()
		return
	}
	w.cursor.skipTo(w.unread.Swap(0))
	for !w.stopping.Load() {
		var ok bool
		// The history is briefly ahead of the snapshot, but an event must not be newer than a
		// subsequent read. The publisher wakes the watch again when the snapshot contains the
		// change.
		newest := w.collection.published.Load().version
		w.records, ok = w.cursor.read(w.records[:0], eventBatch, newest)
		read := len(w.records)
		alive := read == 0 || w.deliver()
		if alive && !ok { // the history has dropped the next change
			w.fail(tooOld(w.cursor.after, w.collection.history.floor.Load()))
		}
		if !alive || !ok {
			self.Stop()
		}
		if !alive || !ok || read < eventBatch {
			return
		}
	}
}

// deliverInitial sends the initial state as synthetic events. If it returns false, the watch must
// end.
func (w *watch) deliverInitial() bool {
	alive := true
	w.buffer = w.buffer[:0]
	fields := w.request.Fields
	if w.selects {
		fields = selector.Fields{}
	}
	w.initial.candidates(fields, w.request.Namespace, "", func(_ string, o *meta.Object) bool {
		if w.selects || w.matches(o) {
			w.buffer = append(w.buffer, request.Event{Type: request.Added, Object: o})
		}
		if len(w.buffer) == eventBatch {
			alive = w.flushInitial()
		}
		return alive && !w.stopping.Load()
	})
	version := max(w.sent, w.initial.version)
	w.initial = nil
	if w.request.MarkInitialEventsEnd {
		w.buffer = append(w.buffer, request.Event{Type: request.Bookmark, Version: version, InitialEventsEnd: true})
	}
	alive = alive && w.flushInitial()
	if sink, ok := w.sink.(request.InitialSink); ok {
		sink.InitialDone()
	}
	return alive
}

func (w *watch) flushInitial() bool {
	if w.selects {
		if err := w.convertInitial(); err != nil {
			return w.endUnconverted(err)
		}
	}
	return w.flush()
}

// deliver sends events for the records in w.records. If it returns false, the watch must end.
func (w *watch) deliver() bool {
	w.buffer = w.buffer[:0]
	if w.selects {
		if err := w.convertRecords(); err != nil {
			return w.endUnconverted(err)
		}
	}
	for _, r := range w.records {
		if e, ok := w.event(r); ok {
			w.buffer = append(w.buffer, e)
		}
		w.sent = max(w.sent, r.version)
	}
	clear(w.records)
	return w.flush()
}

func (w *watch) event(r *record) (e request.Event, ok bool) {
	if ns := w.request.Namespace; ns != "" && r.object.Key.Namespace != ns {
		return e, false
	}
	before := r.previous
	if before == nil && r.kind != created {
		before = r.object // no selector can distinguish the two
	}
	was := before != nil && w.matches(before)
	switch is := r.kind != removed && w.matches(r.object); {
	case is && was:
		return request.Event{Type: request.Modified, Object: r.object}, true
	case is:
		return request.Event{Type: request.Added, Object: r.object}, true
	case was && r.kind == removed:
		return request.Event{Type: request.Deleted, Object: r.object}, true
	case was && w.selects:
		return request.Event{Type: request.Deleted, Object: withVersion(r.previous, r.version)}, true
	case was:
		return request.Event{Type: request.Deleted, Object: w.collection.history.deselected(r)}, true
	}
	return e, false
}

func (w *watch) matches(o *meta.Object) bool {
	return w.everything || w.request.Labels.Matches(o.Meta.Labels) && w.request.Fields.Matches(o)
}

// bookmark delivers all pending changes, and then sends a bookmark with the version reached.
func (w *watch) bookmark(self *runtime.Ref) {
	if w.initial != nil {
		return
	}
	version := max(w.collection.store.appliedRevision.get(), w.sent) // read before advance reads the history
	if w.unread.Load() == 0 {                                        // no unread change up to version concerns the client
		w.cursor.skipTo(version + 1)
	}
	w.advance(self)
	if w.stopping.Load() || w.done.Load() {
		return
	}
	w.sent = max(w.sent, version)
	w.buffer = append(w.buffer[:0], request.Event{Type: request.Bookmark, Version: w.sent})
	if !w.flush() {
		self.Stop()
	}
}

// flush sends the buffer in the requested version. If it returns false, the watch must end.
func (w *watch) flush() bool {
	if len(w.buffer) == 0 {
		return true
	}
	if w.converts {
		if err := w.collection.store.conversions.Events(w.ctx, w.request.Kind, w.buffer); err != nil {
			return w.endUnconverted(err)
		}
	}
	return w.send()
}

func (w *watch) endUnconverted(err error) (alive bool) {
	if !w.stopping.Load() {
		w.collection.store.logger.Error("ending a watch: cannot convert an object", "kind", w.request.Kind.Kind, "version", w.request.Kind.APIVersion(), "error", err)
		w.fail(meta.AsStatus(err))
	}
	return false
}

// fail sends an ERROR event instead of the buffer. The caller must end the watch.
func (w *watch) fail(status *meta.Status) {
	clear(w.buffer)
	w.buffer = append(w.buffer[:0], request.Event{Type: request.Error, Status: status})
	w.send()
}

func (w *watch) send() bool {
	store := w.collection.store
	err := w.sink.Events(w.buffer)
	store.metrics.events.Add(uint64(len(w.buffer)))
	clear(w.buffer)
	w.buffer = w.buffer[:0]
	w.lastSent.Store(store.now().UnixNano())
	return err == nil
}

func tooOld(version, floor uint64) *meta.Status {
	return meta.NewExpired(fmt.Sprintf("too old resource version: %d (%d)", version, floor))
}
