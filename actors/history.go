package actors

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
)

// record is one change in a collection's history. Only deselected and bytes are mutable.
type record struct {
	version uint64
	time    time.Time
	kind    changeKind
	object  *meta.Object // the new state; for a deletion, the last state under the deletion's version
	// previous is the object before the change, or nil for a create. After recovery, it may also be
	// nil if the change affected neither labels nor selectable fields.
	previous *meta.Object
	// deselected is previous with the version of this change, created on first use. Watches whose
	// selector matched previous but not the changed object receive it in a Deleted event.
	deselected atomic.Pointer[meta.Object]
	bytes      int64 // memory that only the record uses
}

type changeKind uint8

const (
	created changeKind = iota
	changed
	removed
)

// recordOverhead is the memory of a record in bytes, excluding object JSON: the record, its slot in
// a chunk, and the object with its key and metadata.
const recordOverhead = 384

// computeBytes sets bytes to the memory that only this record uses, such as the replaced object.
// The new object does not count, because the index shares it until the next change.
func (r *record) computeBytes() {
	r.bytes = recordOverhead
	if r.previous != nil {
		r.bytes += int64(len(r.previous.JSON))
	}
	if r.kind == removed {
		r.bytes += int64(len(r.object.JSON))
	}
}

const chunkSize = 128

// chunk is a fixed-size block of consecutive records. The publisher appends records, and readers
// may read only the first n.
type chunk struct {
	// records are dropped individually. The pointer is nil before the first record, and after all
	// records of a full chunk have been dropped.
	records atomic.Pointer[[chunkSize]atomic.Pointer[record]]
	n       atomic.Int32
	next    atomic.Pointer[chunk]
	first   uint64 // version of the first record
}

func (c *chunk) record(i int32) *record {
	if records := c.records.Load(); records != nil {
		return records[i].Load()
	}
	return nil
}

// history holds the recent changes of a collection. The publisher appends records and retention
// drops them, both under retention's mutex. Any number of cursors may read without a lock. A cursor
// in a dropped chunk retains only the empty chunk.
type history struct {
	retention *retention
	floor     atomic.Uint64 // every change above it is available
	chunks    atomic.Pointer[[]*chunk]
	bytes     atomic.Int64
	// Guarded by retention.mu:
	dropped   int32  // number of dropped records of the first chunk
	oldest    uint64 // version of the oldest record, if any
	heapIndex int    // index in retention's heap
}

func newHistory(floor uint64, shared *retention) *history {
	h := &history{retention: shared, heapIndex: notInHeap}
	h.floor.Store(floor)
	h.chunks.Store(&[]*chunk{{first: floor + 1}})
	return h
}

// append adds the newest change. The caller must hold retention.mu and update the byte count.
func (h *history) append(r *record) {
	chunks := *h.chunks.Load()
	last := chunks[len(chunks)-1]
	n := last.n.Load()
	if n == chunkSize {
		fresh := &chunk{first: r.version}
		longer := append(chunks[:len(chunks):len(chunks)], fresh)
		h.chunks.Store(&longer)
		last.next.Store(fresh)
		h.releaseFirstChunk()
		last, n = fresh, 0
	}
	if n == 0 {
		last.records.Store(new([chunkSize]atomic.Pointer[record]))
	}
	last.records.Load()[n].Store(r)
	last.n.Store(n + 1)
}

// first must be called with retention.mu held.
func (h *history) first() *record {
	c := (*h.chunks.Load())[0]
	if h.dropped == c.n.Load() {
		return nil
	}
	return c.record(h.dropped)
}

// drop removes the oldest record. more reports whether records remain. The caller must hold
// retention.mu and update the byte count. drop first raises the floor, so that cursors always
// recognize a missing record as dropped.
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

// deselected returns the previous object with the version of the change. A watch sends it in a
// Deleted event if its selector no longer matches.
func (h *history) deselected(r *record) *meta.Object {
	if o := r.deselected.Load(); o != nil {
		return o
	}
	o := withVersion(r.previous, r.version)
	h.retention.mu.Lock()
	defer h.retention.mu.Unlock()
	if r.version > h.floor.Load() && r.deselected.CompareAndSwap(nil, o) { // the record still exists and keeps o
		r.bytes += int64(len(o.JSON))
		h.retention.addBytes(h, int64(len(o.JSON)))
		h.retention.trim()
	}
	return o
}

// all returns the retained records, possibly without some unless the caller holds retention.mu.
func (h *history) all() []*record {
	records, _ := (&cursor{history: h, chunk: (*h.chunks.Load())[0], after: h.floor.Load()}).read(nil, math.MaxInt, math.MaxUint64)
	return records
}

// firstVersionSince returns the version of the first record at or after the given time, or 0. The
// record may be dropped concurrently.
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

// cursor is the position of one reader in a history.
type cursor struct {
	history *history
	chunk   *chunk
	at      int32
	after   uint64 // newest version read; records up to it are skipped
}

// seek returns a cursor at the first record newer than version. It returns false if such a record
// has been dropped.
func (h *history) seek(version uint64) (c cursor, ok bool) {
	chunks := *h.chunks.Load()
	i := len(chunks) - 1
	for i > 0 && chunks[i].first > version {
		i--
	}
	return cursor{history: h, chunk: chunks[i], after: version}, version >= h.floor.Load()
}

func (c *cursor) skipTo(version uint64) {
	if version <= c.after+1 {
		return
	}
	if c.chunk.next.Load() != nil {
		*c, _ = c.history.seek(version - 1)
	}
	c.after = version - 1
}

// read appends unread records with versions up to newest to into, which holds at most limit
// records. It returns false if an unread record was dropped.
func (c *cursor) read(into []*record, limit int, newest uint64) (_ []*record, ok bool) {
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
		if r != nil && r.version > newest {
			return into, true
		}
		if r != nil && r.version > c.after {
			into = append(into, r)
			c.after = r.version
		}
		c.at++
	}
	return into, true
}
