package controllers

import (
	"context"
	"sync"
	"time"
)

// A backlog is what is still to be done, each thing once, in the order of its coming. What
// failed comes back after a pause that doubles each time. It may be used by many at a time.
type workqueue[T comparable] struct {
	mu       sync.Mutex // guards the next three
	items    []T
	queued   map[T]bool // what is in waiting
	failures map[T]int  // how often what has failed was tried

	ready chan struct{} // has room for one; filled while something waits
}

func newWorkqueue[T comparable]() *workqueue[T] {
	return &workqueue[T]{queued: make(map[T]bool), failures: make(map[T]int), ready: make(chan struct{}, 1)}
}

// The pauses before what failed is tried again.
const (
	minRetryDelay = 10 * time.Millisecond
	maxRetryDelay = 2 * time.Minute
)

// add puts something in, unless it waits already.
func (b *workqueue[T]) add(items ...T) {
	b.mu.Lock()
	for _, t := range items {
		if !b.queued[t] {
			b.queued[t] = true
			b.items = append(b.items, t)
		}
	}
	b.signal()
	b.mu.Unlock()
}

// signal must be called with the lock held.
func (b *workqueue[T]) signal() {
	if len(b.items) == 0 {
		return
	}
	select {
	case b.ready <- struct{}{}:
	default:
	}
}

// get waits for something to do, and takes up to most things out; nil when the context ends.
func (b *workqueue[T]) get(ctx context.Context, most int) []T {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-b.ready:
		}
		b.mu.Lock()
		n := min(most, len(b.items))
		items := b.items[:n:n]
		if b.items = b.items[n:]; len(b.items) == 0 {
			b.items = nil
		}
		for _, t := range items {
			delete(b.queued, t)
		}
		b.signal()
		b.mu.Unlock()
		if n > 0 {
			return items
		}
	}
}

// done closes an attempt: what succeeded is forgotten, what failed comes back later.
func (b *workqueue[T]) done(ctx context.Context, t T, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err == nil {
		delete(b.failures, t)
		return
	}
	pause := min(minRetryDelay<<min(b.failures[t], 20), maxRetryDelay)
	b.failures[t]++
	time.AfterFunc(pause, func() {
		if ctx.Err() == nil {
			b.add(t)
		}
	})
}

// run does what is in a backlog, several things at a time, until the context ends. What failed
// is told, unless somebody else was quicker, and tried again.
func (b *workqueue[T]) run(ctx context.Context, do func(context.Context, T) error, report func(T, error)) {
	for {
		items := b.get(ctx, maxWorkers)
		if items == nil {
			return
		}
		_ = forEachParallel(items, func(t T) error {
			err := do(ctx, t)
			if err != nil && ctx.Err() == nil && !isConflict(err) {
				report(t, err)
			}
			b.done(ctx, t, err)
			return nil
		})
	}
}
