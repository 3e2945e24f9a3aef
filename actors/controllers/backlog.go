package controllers

import (
	"context"
	"sync"
	"time"
)

// A backlog is what is still to be done, each thing once, in the order of its coming. What
// failed comes back after a pause that doubles each time. It may be used by many at a time.
type backlog[T comparable] struct {
	mu      sync.Mutex // guards the next three
	waiting []T
	queued  map[T]bool // what is in waiting
	tries   map[T]int  // how often what has failed was tried

	ready chan struct{} // has room for one; filled while something waits
}

func newBacklog[T comparable]() *backlog[T] {
	return &backlog[T]{queued: make(map[T]bool), tries: make(map[T]int), ready: make(chan struct{}, 1)}
}

// The pauses before what failed is tried again.
const (
	firstRetry = 10 * time.Millisecond
	lastRetry  = 2 * time.Minute
)

// add puts something in, unless it waits already.
func (b *backlog[T]) add(things ...T) {
	b.mu.Lock()
	for _, t := range things {
		if !b.queued[t] {
			b.queued[t] = true
			b.waiting = append(b.waiting, t)
		}
	}
	b.signal()
	b.mu.Unlock()
}

// signal must be called with the lock held.
func (b *backlog[T]) signal() {
	if len(b.waiting) == 0 {
		return
	}
	select {
	case b.ready <- struct{}{}:
	default:
	}
}

// take waits for something to do, and takes up to most things out; nil when the context ends.
func (b *backlog[T]) take(ctx context.Context, most int) []T {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-b.ready:
		}
		b.mu.Lock()
		n := min(most, len(b.waiting))
		things := b.waiting[:n:n]
		if b.waiting = b.waiting[n:]; len(b.waiting) == 0 {
			b.waiting = nil
		}
		for _, t := range things {
			delete(b.queued, t)
		}
		b.signal()
		b.mu.Unlock()
		if n > 0 {
			return things
		}
	}
}

// settle closes an attempt: what succeeded is forgotten, what failed comes back later.
func (b *backlog[T]) settle(ctx context.Context, t T, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err == nil {
		delete(b.tries, t)
		return
	}
	pause := min(firstRetry<<min(b.tries[t], 20), lastRetry)
	b.tries[t]++
	time.AfterFunc(pause, func() {
		if ctx.Err() == nil {
			b.add(t)
		}
	})
}

// serve does what is in a backlog, several things at a time, until the context ends. What failed
// is told, unless somebody else was quicker, and tried again.
func (b *backlog[T]) serve(ctx context.Context, do func(context.Context, T) error, tell func(T, error)) {
	for {
		things := b.take(ctx, collectors)
		if things == nil {
			return
		}
		_ = each(things, func(t T) error {
			err := do(ctx, t)
			if err != nil && ctx.Err() == nil && !overtaken(err) {
				tell(t, err)
			}
			b.settle(ctx, t, err)
			return nil
		})
	}
}
