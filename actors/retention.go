package actors

import (
	"container/heap"
	"sync"
	"sync/atomic"
	"time"
)

// retention is the one budget that the histories of all collections share. What goes beyond it
// is dropped record by record, the oldest version first, whichever collection it is of. Its
// mutex guards what is not atomic, here and in the histories.
type retention struct {
	mu    sync.Mutex
	limit int64        // most bytes of all histories
	bytes atomic.Int64 // of all histories
	held  int64        // beside them, which count too: what recovery knows of the past
	queue historyHeap
	// dropped is told of each record that goes, under the mutex; nil but in recovery.
	dropped func(*record)
}

func newRetention(limit int64) *retention { return &retention{limit: limit} }

// historyHeap is a heap of the histories that hold records, by the version of their oldest.
type historyHeap []*history

func (q historyHeap) Len() int           { return len(q) }
func (q historyHeap) Less(i, j int) bool { return q[i].oldest < q[j].oldest }
func (q historyHeap) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].place, q[j].place = i, j
}

// Push implements heap.Interface.
func (q *historyHeap) Push(x any) {
	h := x.(*history)
	h.place = len(*q)
	*q = append(*q, h)
}

// Pop implements heap.Interface.
func (q *historyHeap) Pop() any {
	last := len(*q) - 1
	h := (*q)[last]
	(*q)[last], *q = nil, (*q)[:last]
	h.place = nowhere
	return h
}

// nowhere is the place of a history without records.
const nowhere = -1

// append adds the newest changes of one history, and drops the oldest of all that are too much.
func (t *retention) append(h *history, records []*record) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range records {
		h.append(r)
		t.count(h, r.bytes)
		if h.place == nowhere {
			h.oldest = r.version
			heap.Push(&t.queue, h)
		}
		t.trim()
	}
}

// count notes that a history has become larger, or smaller.
func (t *retention) count(h *history, bytes int64) {
	h.bytes.Add(bytes)
	t.bytes.Add(bytes)
}

// trim drops the oldest records of all until the rest is within the budget.
func (t *retention) trim() {
	for t.bytes.Load()+t.held > t.limit && len(t.queue) > 0 {
		t.drop()
	}
}

// drop lets the oldest record of all go.
func (t *retention) drop() {
	h := t.queue[0]
	r, more := h.drop()
	t.count(h, -r.bytes)
	if t.dropped != nil {
		t.dropped(r)
	}
	if more {
		heap.Fix(&t.queue, 0)
	} else {
		heap.Pop(&t.queue)
	}
}

// expire drops the records that are older than a time.
func (t *retention) expire(before time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.queue) > 0 && t.queue[0].first().time.Before(before) {
		t.drop()
	}
}

// allow changes the budget.
func (t *retention) allow(limit int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.limit = limit
	t.trim()
}

func (t *retention) budget() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.limit
}

// forget drops the past of one history up to a version, which is that of its newest record or
// later. Who has read it all goes on.
func (t *retention) forget(h *history, version uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for h.place != nowhere {
		r, more := h.drop()
		t.count(h, -r.bytes)
		if more {
			heap.Fix(&t.queue, h.place)
		} else {
			heap.Remove(&t.queue, h.place)
		}
	}
	h.floor.Store(max(version, h.floor.Load()))
}

// Retain says how many bytes the past that watches can go back to may take from now on, which
// is at most what the tuning says.
func (s *Store) Retain(bytes int64) { s.retained.allow(min(bytes, s.tuning.HistoryBytes)) }

// Relieve lets go of what is only kept to be quicker: the snapshots of chunked lists, whose next
// chunks are then made from the history, and owners of objects that have nothing to do.
func (s *Store) Relieve() {
	future := time.Unix(1<<33, 0)
	for _, c := range s.all() {
		c.pins.expire(future)
		c.passivate(future)
	}
}
