package simulation

import (
	"container/heap"
	"context"
	"sync"
	"time"
)

// A queue holds Pods with the time at which each is due. One worker at a time processes a Pod; if
// it becomes due meanwhile, it is handed out again after done.
type queue struct {
	mu      sync.Mutex
	due     dueHeap
	entries map[objectKey]*entry
	wake    chan struct{} // buffered signal to check the front
}

// An entry is a Pod in the queue. index is its position in the heap, or -1 while a worker has it;
// again means that it is due again at that time.
type entry struct {
	key   objectKey
	at    time.Time
	index int
	again bool
}

func newQueue() *queue {
	return &queue{entries: map[objectKey]*entry{}, wake: make(chan struct{}, 1)}
}

// add schedules a Pod; the earliest of several times counts.
func (q *queue) add(key objectKey, at time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	e := q.entries[key]
	switch {
	case e == nil:
		e = &entry{key: key, at: at}
		q.entries[key] = e
		heap.Push(&q.due, e)
	case e.index < 0:
		if !e.again || at.Before(e.at) {
			e.again, e.at = true, at
		}
	case at.Before(e.at):
		e.at = at
		heap.Fix(&q.due, e.index)
	}
	q.signal()
}

// take waits for a due Pod; the caller must call done for it. ok is false if the context has ended.
func (q *queue) take(ctx context.Context) (key objectKey, ok bool) {
	for {
		q.mu.Lock()
		wait := time.Hour
		if len(q.due) > 0 {
			if wait = time.Until(q.due[0].at); wait <= 0 {
				e := heap.Pop(&q.due).(*entry)
				e.index = -1
				q.signal() // wake the next worker
				q.mu.Unlock()
				return e.key, true
			}
		}
		q.mu.Unlock()
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return objectKey{}, false
		case <-q.wake:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// done returns a Pod after take.
func (q *queue) done(key objectKey) {
	q.mu.Lock()
	defer q.mu.Unlock()
	e := q.entries[key]
	if !e.again {
		delete(q.entries, key)
		return
	}
	e.again = false
	heap.Push(&q.due, e)
	q.signal()
}

func (q *queue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// A dueHeap is a heap.Interface with the earliest entry in front.
type dueHeap []*entry

func (h dueHeap) Len() int           { return len(h) }
func (h dueHeap) Less(i, j int) bool { return h[i].at.Before(h[j].at) }
func (h dueHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

func (h *dueHeap) Push(x any) {
	e := x.(*entry)
	e.index = len(*h)
	*h = append(*h, e)
}

func (h *dueHeap) Pop() any {
	last := len(*h) - 1
	e := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return e
}

// run processes keys with treat until the context ends. A key is added again at the returned time,
// unless that is zero.
func (q *queue) run(ctx context.Context, treat func(objectKey) time.Time) {
	for {
		key, ok := q.take(ctx)
		if !ok {
			return
		}
		if again := treat(key); !again.IsZero() {
			q.add(key, again)
		}
		q.done(key)
	}
}
