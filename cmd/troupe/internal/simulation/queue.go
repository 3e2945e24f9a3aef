package simulation

import (
	"container/heap"
	"context"
	"sync"
	"time"
)

// A queue holds the Pods that are to be looked at, each with the time from which on. A Pod is in the hands of one worker at
// a time: one that becomes due meanwhile is given out again when the worker has done with it.
type queue struct {
	mu      sync.Mutex
	due     dueHeap
	entries map[objectKey]*entry
	wake    chan struct{} // has room for one: somebody is to look at the front
}

// An entry is a Pod in the queue. index is its place in the heap; -1 if it is in the hands of a worker, and then again
// tells that it is due anew, at its time.
type entry struct {
	key   objectKey
	at    time.Time
	index int
	again bool
}

func newQueue() *queue {
	return &queue{entries: map[objectKey]*entry{}, wake: make(chan struct{}, 1)}
}

// add has a Pod looked at at a time. Of several times the first one counts.
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

// take waits for a Pod that is due. done has to be called for it. ok is false when the context has ended.
func (q *queue) take(ctx context.Context) (key objectKey, ok bool) {
	for {
		q.mu.Lock()
		wait := time.Hour
		if len(q.due) > 0 {
			if wait = time.Until(q.due[0].at); wait <= 0 {
				e := heap.Pop(&q.due).(*entry)
				e.index = -1
				q.signal() // for the next worker
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

// done gives a Pod back that was taken.
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

// A dueHeap has the entry in front that is due first.
type dueHeap []*entry

func (h dueHeap) Len() int           { return len(h) }
func (h dueHeap) Less(i, j int) bool { return h[i].at.Before(h[j].at) }
func (h dueHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

// Push implements heap.Interface.
func (h *dueHeap) Push(x any) {
	e := x.(*entry)
	e.index = len(*h)
	*h = append(*h, e)
}

// Pop implements heap.Interface.
func (h *dueHeap) Pop() any {
	last := len(*h) - 1
	e := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return e
}

// run treats keys until the context ends. One for which treat returns a time is added again at that time.
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
