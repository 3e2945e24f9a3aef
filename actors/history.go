package actors

import (
	"sync/atomic"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
)

// record is one change in the history of a collection. It is immutable but for the
// cache left.
type record struct {
	version uint64
	time    time.Time
	kind    changeKind
	object  *meta.Object // the new state; of a removal, the last state under the removal's version
	// previous is the state before; nil for a creation, and where the history was read
	// back and the state before is older than it: labels and selectable fields are then
	// those of object.
	previous *meta.Object
	// left is previous under the version of this change, for watchers whose selector
	// the object has left; made when the first of them needs it.
	left atomic.Pointer[meta.Object]
}

// changeKind tells the changes apart.
type changeKind uint8

const (
	created changeKind = iota
	changed
	removed
)

// chunkSize is the number of records that are allocated together.
const chunkSize = 128

// chunk is a run of records. The owner fills it; readers see the first n of them.
type chunk struct {
	records atomic.Pointer[[chunkSize]*record] // nil once the chunk has fallen out of the window
	n       atomic.Int32
	next    atomic.Pointer[chunk]
	first   uint64 // version of the first record
	bytes   int64  // of the objects; the owner's
}

// history holds the recent changes of a collection. The collection's actor appends and
// trims; any number of cursors read without a lock. A cursor that holds on to a chunk
// that was trimmed keeps an empty shell alive, not its records.
type history struct {
	floor  atomic.Uint64 // every change above it is still there
	chunks atomic.Pointer[[]*chunk]
	bytes  atomic.Int64 // of the objects; the owner writes it
}

func newHistory(floor uint64) *history {
	h := &history{}
	h.floor.Store(floor)
	first := newChunk()
	first.first = floor + 1
	h.chunks.Store(&[]*chunk{first})
	return h
}

func newChunk() *chunk {
	c := &chunk{}
	c.records.Store(new([chunkSize]*record))
	return c
}

// append adds the newest change.
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
		last, n = fresh, 0
	}
	last.records.Load()[n] = r
	last.n.Store(n + 1)
	size := int64(len(r.object.JSON))
	last.bytes += size
	h.bytes.Add(size)
}

// trim drops whole chunks that are older than oldest or beyond the limit of bytes. The
// newest chunk stays.
func (h *history) trim(oldest time.Time, limit int64) {
	chunks := *h.chunks.Load()
	drop := 0
	for drop < len(chunks)-1 {
		newest := chunks[drop].records.Load()[chunkSize-1]
		if h.bytes.Load() <= limit && !newest.time.Before(oldest) {
			break
		}
		h.bytes.Add(-chunks[drop].bytes)
		h.floor.Store(newest.version)
		drop++
	}
	if drop == 0 {
		return
	}
	kept := append([]*chunk(nil), chunks[drop:]...)
	h.chunks.Store(&kept)
	for _, c := range chunks[:drop] {
		c.records.Store(nil)
	}
}

// since is the version of the oldest record that is not older than a time; 0 if there is
// none. trim goes by whole chunks, so that a quiet collection's history reaches further
// back than that: nothing that is promised needs those records.
func (h *history) since(oldest time.Time) uint64 {
	for _, c := range *h.chunks.Load() {
		records := c.records.Load()
		if records == nil {
			continue // trimmed meanwhile
		}
		for _, r := range records[:c.n.Load()] {
			if !r.time.Before(oldest) {
				return r.version
			}
		}
	}
	return 0
}

// cursor is a place in a history. It belongs to one reader.
type cursor struct {
	chunk *chunk
	at    int32
	after uint64 // records up to this version are skipped
}

// seek is the cursor before the first record above version; ok is false if some of
// those records are gone.
func (h *history) seek(version uint64) (c cursor, ok bool) {
	chunks := *h.chunks.Load()
	i := len(chunks) - 1
	for i > 0 && chunks[i].first > version {
		i--
	}
	return cursor{chunk: chunks[i], after: version}, version >= h.floor.Load()
}

// read appends up to limit records to into. ok is false if the cursor has fallen out of
// the history.
func (c *cursor) read(into []*record, limit int) (_ []*record, ok bool) {
	for len(into) < limit {
		if c.at == c.chunk.n.Load() {
			next := c.chunk.next.Load()
			if next == nil {
				return into, c.chunk.records.Load() != nil
			}
			c.chunk, c.at = next, 0
			continue
		}
		records := c.chunk.records.Load()
		if records == nil {
			return into, false
		}
		if r := records[c.at]; r.version > c.after {
			into = append(into, r)
		}
		c.at++
	}
	return into, true
}
