package actors

import (
	"container/heap"
	"sync"
	"sync/atomic"
	"time"
)

// retention is the byte budget that the histories of all collections share. Beyond the budget, the
// record with the oldest version is dropped first. mu guards all non-atomic fields, here and in the
// histories.
type retention struct {
	mu            sync.Mutex
	limit         int64        // maximum bytes of all histories
	bytes         atomic.Int64 // bytes of all histories
	recoveryBytes int64        // bytes of former states kept by recovery, which also count
	queue         historyHeap
	// onDrop is called with each dropped record while mu is held. Only recovery sets it.
	onDrop func(*record)
}

func newRetention(limit int64) *retention { return &retention{limit: limit} }

// historyHeap orders the nonempty histories by the version of their oldest record.
type historyHeap []*history

func (q historyHeap) Len() int           { return len(q) }
func (q historyHeap) Less(i, j int) bool { return q[i].oldest < q[j].oldest }
func (q historyHeap) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].heapIndex, q[j].heapIndex = i, j
}

func (q *historyHeap) Push(x any) {
	h := x.(*history)
	h.heapIndex = len(*q)
	*q = append(*q, h)
}

func (q *historyHeap) Pop() any {
	last := len(*q) - 1
	h := (*q)[last]
	(*q)[last], *q = nil, (*q)[:last]
	h.heapIndex = notInHeap
	return h
}

const notInHeap = -1

// append adds records to a history, and drops the oldest records of all histories while the budget
// is exceeded.
func (t *retention) append(h *history, records []*record) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range records {
		h.append(r)
		t.addBytes(h, r.bytes)
		if h.heapIndex == notInHeap {
			h.oldest = r.version
			heap.Push(&t.queue, h)
		}
		t.trim()
	}
}

func (t *retention) addBytes(h *history, bytes int64) {
	h.bytes.Add(bytes)
	t.bytes.Add(bytes)
}

// trim must be called with mu held.
func (t *retention) trim() {
	for t.bytes.Load()+t.recoveryBytes > t.limit && len(t.queue) > 0 {
		t.drop()
	}
}

func (t *retention) drop() {
	h := t.queue[0]
	r, more := h.drop()
	t.addBytes(h, -r.bytes)
	if t.onDrop != nil {
		t.onDrop(r)
	}
	if more {
		heap.Fix(&t.queue, 0)
	} else {
		heap.Pop(&t.queue)
	}
}

func (t *retention) expire(before time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.queue) > 0 && t.queue[0].first().time.Before(before) {
		t.drop()
	}
}

func (t *retention) setLimit(limit int64) {
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

// truncate drops all records of one history. version must be at least the version of its newest
// record. Watches that have read up to version are not affected.
func (t *retention) truncate(h *history, version uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for h.heapIndex != notInHeap {
		r, more := h.drop()
		t.addBytes(h, -r.bytes)
		if more {
			heap.Fix(&t.queue, h.heapIndex)
		} else {
			heap.Remove(&t.queue, h.heapIndex)
		}
	}
	h.floor.Store(max(version, h.floor.Load()))
}

// SetHistoryLimit limits the total bytes of all histories. Tuning.HistoryBytes is the upper bound.
func (s *Store) SetHistoryLimit(bytes int64) { s.retention.setLimit(min(bytes, s.tuning.HistoryBytes)) }

// DropCaches stops idle actors and drops the snapshots of chunked lists, which can be rebuilt from
// the history or the log.
func (s *Store) DropCaches() {
	s.logged.Store(nil)
	for _, c := range s.allCollections() {
		c.snapshotCache.clear()
		c.passivate(time.Now())
	}
}
