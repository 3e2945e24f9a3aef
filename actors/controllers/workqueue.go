package controllers

import (
	"context"
	"sync"
	"time"
)

// workqueue is a FIFO queue without duplicates, like that of client-go. An item that failed is added
// again after a delay that doubles with each failure. It is safe for concurrent use.
type workqueue[T comparable] struct {
	mu       sync.Mutex // guards the next three
	items    []T
	queued   map[T]bool // the set of items
	failures map[T]int  // number of consecutive failures per item

	ready chan struct{} // capacity one; filled while items is not empty
}

func newWorkqueue[T comparable]() *workqueue[T] {
	return &workqueue[T]{queued: make(map[T]bool), failures: make(map[T]int), ready: make(chan struct{}, 1)}
}

// The delays before a failed item is added again.
const (
	minRetryDelay = 10 * time.Millisecond
	maxRetryDelay = 2 * time.Minute
)

// add adds items that are not queued already.
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

// signal wakes one get if there are items. The caller holds the lock.
func (b *workqueue[T]) signal() {
	if len(b.items) == 0 {
		return
	}
	select {
	case b.ready <- struct{}{}:
	default:
	}
}

// get waits for items, and removes and returns up to most of them; nil when the context ends.
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

// done ends the processing of an item: after an error the item is added again later, else its failures
// are forgotten.
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

// run processes items, maxWorkers at a time, until the context ends. Items that fail are retried;
// report is called for the error unless it is a conflict, which concurrent changes make normal.
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
