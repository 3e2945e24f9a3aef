package actors

import (
	"sync/atomic"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
)

// record is one change in the history of a collection. It is immutable but for the
// cache left, and bytes with it.
type record struct {
	version uint64
	time    time.Time
	kind    changeKind
	object  *meta.Object // the new state; of a removal, the last state under the removal's version
	// previous is the state before; nil for a creation, and where the history was read
	// back and the state before is older than it: labels and selectable fields are then
	// those of object.
	previous *meta.Object
	// deselected is previous under the version of this change, for watchers whose selector
	// the object has left; made when the first of them needs it.
	deselected atomic.Pointer[meta.Object]
	bytes      int64 // that would be free without it
}

// changeKind tells the changes apart.
type changeKind uint8

const (
	created changeKind = iota
	changed
	removed
)

// recordOverhead is what a record takes beside the JSON of objects: itself, the object with its
// key and head, and its place.
const recordOverhead = 384

// computeBytes counts what only the history holds: the state that the change has replaced. The new
// state is the index's until the next change of it, which counts it.
func (r *record) computeBytes() {
	r.bytes = recordOverhead
	if r.previous != nil {
		r.bytes += int64(len(r.previous.JSON))
	}
	if r.kind == removed {
		r.bytes += int64(len(r.object.JSON))
	}
}

// chunkSize is the number of records that are allocated together.
const chunkSize = 128

// chunk is a run of records. The owner fills it; readers see the first n of them.
type chunk struct {
	// records are nil once they have been dropped, first one by one, and then all together.
	records atomic.Pointer[[chunkSize]atomic.Pointer[record]]
	n       atomic.Int32
	next    atomic.Pointer[chunk]
	first   uint64 // version of the first record
}

// record is one of the first n; nil if it has been dropped.
func (c *chunk) record(i int32) *record {
	if records := c.records.Load(); records != nil {
		return records[i].Load()
	}
	return nil
}

// history holds the recent changes of a collection. The collection's actor appends, and
// the budget that all histories share drops (retention, whose mutex both hold); any number
// of cursors read without a lock. A cursor that holds on to a chunk that was dropped keeps
// an empty shell alive, not its records.
type history struct {
	retention *retention
	floor     atomic.Uint64 // every change above it is still there
	chunks    atomic.Pointer[[]*chunk]
	bytes     atomic.Int64
	// What follows is guarded by the mutex of kept.
	dropped   int32  // how many records of the first chunk have been dropped
	oldest    uint64 // version of the oldest record, while there is one
	heapIndex int    // in the queue of kept
}

func newHistory(floor uint64, shared *retention) *history {
	h := &history{retention: shared, heapIndex: notInHeap}
	h.floor.Store(floor)
	first := newChunk()
	first.first = floor + 1
	h.chunks.Store(&[]*chunk{first})
	return h
}

func newChunk() *chunk {
	c := &chunk{}
	c.records.Store(new([chunkSize]atomic.Pointer[record]))
	return c
}

// append adds the newest change. The caller holds the mutex of kept, and counts it.
func (h *history) append(r *record) {
	chunks := *h.chunks.Load()
	last := chunks[len(chunks)-1]
	n := last.n.Load()
	if n == chunkSize {
		fresh := newChunk()
		fresh.first = r.version
		longer := append(chunks[:len(chunks):len(chunks)], fresh)
		h.chunks.Store(&longer)
		last.next.Store(fresh)
		h.releaseFirstChunk()
		last, n = fresh, 0
	}
	last.records.Load()[n].Store(r)
	last.n.Store(n + 1)
}

// first is the oldest record, if there is one. The caller holds the mutex of kept.
func (h *history) first() *record {
	c := (*h.chunks.Load())[0]
	if h.dropped == c.n.Load() {
		return nil
	}
	return c.record(h.dropped)
}

// drop takes the oldest record out; more says that there is another. The caller holds the
// mutex of kept, and counts it. The floor rises first: who finds a record gone sees why.
func (h *history) drop() (r *record, more bool) {
	r = h.first()
	h.floor.Store(r.version)
	(*h.chunks.Load())[0].records.Load()[h.dropped].Store(nil)
	h.dropped++
	h.releaseFirstChunk()
	next := h.first()
	if next == nil {
		return r, false
	}
	h.oldest = next.version
	return r, true
}

// releaseFirstChunk lets the first chunk go when nothing is left of it and another has begun.
func (h *history) releaseFirstChunk() {
	chunks := *h.chunks.Load()
	if h.dropped < chunkSize || len(chunks) == 1 {
		return
	}
	rest := chunks[1:]
	h.chunks.Store(&rest)
	chunks[0].records.Store(nil)
	h.dropped = 0
}

// deselected is the state that watchers see whose selector the object has left.
func (h *history) deselected(r *record) *meta.Object {
	if o := r.deselected.Load(); o != nil {
		return o
	}
	o := withVersion(r.previous, r.version)
	h.retention.mu.Lock()
	defer h.retention.mu.Unlock()
	if r.version > h.floor.Load() && r.deselected.CompareAndSwap(nil, o) { // it is still there, and kept with it
		r.bytes += int64(len(o.JSON))
		h.retention.addBytes(h, int64(len(o.JSON)))
		h.retention.trim()
	}
	return o
}

// firstVersionSince is the version of the oldest record that is not older than a time; 0 if there is
// none. It may be that of one that is dropped meanwhile.
func (h *history) firstVersionSince(oldest time.Time) uint64 {
	for _, c := range *h.chunks.Load() {
		for i := range c.n.Load() {
			if r := c.record(i); r != nil && !r.time.Before(oldest) {
				return r.version
			}
		}
	}
	return 0
}

// cursor is a place in a history. It belongs to one reader.
type cursor struct {
	history *history
	chunk   *chunk
	at      int32
	after   uint64 // newest version that was read; records up to it are skipped
}

// seek is the cursor before the first record above version; ok is false if some of
// those records are gone.
func (h *history) seek(version uint64) (c cursor, ok bool) {
	chunks := *h.chunks.Load()
	i := len(chunks) - 1
	for i > 0 && chunks[i].first > version {
		i--
	}
	return cursor{history: h, chunk: chunks[i], after: version}, version >= h.floor.Load()
}

// read appends up to limit records to into. ok is false if the cursor has fallen out of
// the history: a record that it has not read was dropped.
func (c *cursor) read(into []*record, limit int) (_ []*record, ok bool) {
	for len(into) < limit {
		if next := c.chunk.next.Load(); next != nil && c.at == chunkSize {
			c.chunk, c.at = next, 0
			continue
		}
		if c.at == c.chunk.n.Load() {
			return into, c.after >= c.history.floor.Load()
		}
		r := c.chunk.record(c.at)
		if r == nil && c.after < c.history.floor.Load() {
			return into, false
		}
		if r != nil && r.version > c.after {
			into = append(into, r)
			c.after = r.version
		}
		c.at++
	}
	return into, true
}
