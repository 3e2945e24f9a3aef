package simulation

import (
	"cmp"
	"context"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/btree"
)

// A queue orders Pods by the time at which they are due. Only one worker at a time processes a Pod.
// If a Pod becomes due meanwhile, take returns it again after done.
type queue struct {
	mu      sync.Mutex
	due     *btree.BTreeG[*entry]
	entries map[objectKey]*entry
	wake    chan struct{} // buffered signal to check the front
}

// An entry is a Pod in the queue. taken means that a worker is processing it, and again that it was
// added meanwhile and is due at time at.
type entry struct {
	key          objectKey
	at           time.Time
	taken, again bool
}

func newQueue() *queue {
	earlier := func(a, b *entry) bool {
		return cmp.Or(a.at.Compare(b.at), strings.Compare(a.key.namespace, b.key.namespace), strings.Compare(a.key.name, b.key.name)) < 0
	}
	return &queue{due: btree.NewBTreeG(earlier), entries: map[objectKey]*entry{}, wake: make(chan struct{}, 1)}
}

// add schedules a Pod. If the Pod is already scheduled, the earlier time applies.
func (q *queue) add(key objectKey, at time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	e := q.entries[key]
	switch {
	case e == nil:
		e = &entry{key: key, at: at}
		q.entries[key] = e
	case e.taken && (!e.again || at.Before(e.at)):
		e.again, e.at = true, at
		return
	case e.taken || !at.Before(e.at):
		return
	default:
		q.due.Delete(e)
		e.at = at
	}
	q.due.Set(e)
	q.signal()
}

// take blocks until a Pod is due. The caller must then call done. ok is false if ctx has ended.
func (q *queue) take(ctx context.Context) (key objectKey, ok bool) {
	for {
		q.mu.Lock()
		wait := time.Hour
		if e, ok := q.due.Min(); ok {
			if wait = time.Until(e.at); wait <= 0 {
				q.due.Delete(e)
				e.taken = true
				q.signal() // wake the next worker
				q.mu.Unlock()
				return e.key, true
			}
		}
		q.mu.Unlock()
		select {
		case <-ctx.Done():
			return objectKey{}, false
		case <-q.wake:
		case <-time.After(wait):
		}
	}
}

func (q *queue) done(key objectKey) {
	q.mu.Lock()
	defer q.mu.Unlock()
	e := q.entries[key]
	if !e.again {
		delete(q.entries, key)
		return
	}
	e.taken, e.again = false, false
	q.due.Set(e)
	q.signal()
}

func (q *queue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// run processes keys with treat until ctx ends. It adds a key again at the time that treat returns,
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
