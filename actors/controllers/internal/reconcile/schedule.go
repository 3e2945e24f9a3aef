package reconcile

import (
	"container/heap"
	"context"
	"sync"
	"time"
)

// A Schedule holds one time per key and reports due keys. It uses a single timer. It is safe for
// concurrent use.
type Schedule[T comparable] struct {
	mu      sync.Mutex // guards entries and byKey
	entries entryHeap[T]
	byKey   map[T]*entry[T]

	earlier chan struct{} // capacity one; signals a new first entry
}

type entry[T comparable] struct {
	key   T
	at    time.Time
	index int // in the heap
}

func NewSchedule[T comparable]() *Schedule[T] {
	return &Schedule[T]{byKey: map[T]*entry[T]{}, earlier: make(chan struct{}, 1)}
}

// Set sets the time of a key and replaces the previous time.
func (s *Schedule[T]) Set(key T, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.set(key, at)
}

// SetEarlier is like Set, but keeps the previous time if it is earlier. It is for keys that may be
// due for several reasons.
func (s *Schedule[T]) SetEarlier(key T, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.byKey[key]; e == nil || at.Before(e.at) {
		s.set(key, at)
	}
}

// set must be called with mu held.
func (s *Schedule[T]) set(key T, at time.Time) {
	e := s.byKey[key]
	if e == nil {
		e = &entry[T]{key: key, at: at}
		s.byKey[key] = e
		heap.Push(&s.entries, e)
	} else {
		e.at = at
		heap.Fix(&s.entries, e.index)
	}
	if e.index == 0 {
		select {
		case s.earlier <- struct{}{}:
		default:
		}
	}
}

// Remove removes a key, if present.
func (s *Schedule[T]) Remove(key T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.byKey[key]; e != nil {
		heap.Remove(&s.entries, e.index)
		delete(s.byKey, key)
	}
}

// maxSleep limits how long the timer sleeps before it reads the clock again, because the clock may
// be adjusted.
const maxSleep = 10 * time.Minute

// Run removes each key when it is due and passes it to due, until the context is done.
func (s *Schedule[T]) Run(ctx context.Context, due func(T)) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.earlier:
		case <-timer.C:
		}
		keys, next := s.take(time.Now())
		for _, key := range keys {
			due(key)
		}
		timer.Reset(min(next, maxSleep))
	}
}

// take removes and returns the due keys. next is the time until the next key is due.
func (s *Schedule[T]) take(now time.Time) (due []T, next time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.entries) > 0 {
		if first := s.entries[0]; first.at.After(now) {
			return due, first.at.Sub(now)
		}
		e := heap.Pop(&s.entries).(*entry[T])
		delete(s.byKey, e.key)
		due = append(due, e.key)
	}
	return due, maxSleep
}

type entryHeap[T comparable] []*entry[T]

func (h entryHeap[T]) Len() int           { return len(h) }
func (h entryHeap[T]) Less(i, j int) bool { return h[i].at.Before(h[j].at) }
func (h entryHeap[T]) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

func (h *entryHeap[T]) Push(v any) {
	e := v.(*entry[T])
	e.index = len(*h)
	*h = append(*h, e)
}

func (h *entryHeap[T]) Pop() any {
	old := *h
	e := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	return e
}
