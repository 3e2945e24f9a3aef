package reconcile

import (
	"context"
	"sync"
	"time"
)

// Workqueue is a FIFO queue without duplicates, as in client-go. It requeues failed items with
// exponential backoff. It is safe for concurrent use.
//
// Only one worker at a time processes an item. An item added during its processing is requeued
// afterwards, so that no change is lost.
type Workqueue[T comparable] struct {
	name string // for metrics; "" is the controller's

	mu         sync.Mutex // guards the fields below
	items      []T
	queued     map[T]time.Time // time of adding: items, and those to be queued again
	processing map[T]time.Time // start of processing: between Get and Done
	failures   map[T]int       // number of consecutive failures per item
	waiting    map[T]*delayed  // items with a delay, each once
	metrics    *queueSeries    // nil if not counted

	ready chan struct{} // capacity one; filled while items is not empty
}

type delayed struct {
	at    time.Time
	timer *time.Timer
}

func NewWorkqueue[T comparable]() *Workqueue[T] {
	return &Workqueue[T]{
		queued: make(map[T]time.Time), processing: make(map[T]time.Time), failures: make(map[T]int), waiting: make(map[T]*delayed),
		ready: make(chan struct{}, 1),
	}
}

// Named sets the name of the queue in metrics. It must be called before the queue is used.
func (b *Workqueue[T]) Named(name string) *Workqueue[T] {
	b.name = name
	return b
}

// Bounds of the delay before a failed item is requeued.
const (
	MinRetryDelay = 10 * time.Millisecond
	MaxRetryDelay = 2 * time.Minute
)

// Add adds items. Items that are already queued are ignored.
func (b *Workqueue[T]) Add(items ...T) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	for _, t := range items {
		if _, queued := b.queued[t]; queued {
			continue
		}
		b.queued[t] = now
		b.metrics.countAdd()
		if _, processing := b.processing[t]; !processing {
			b.items = append(b.items, t)
		}
	}
	b.signal()
}

// AddAfter adds an item after a delay, unless the context is done by then. If called several times
// for an item, the earliest time applies.
func (b *Workqueue[T]) AddAfter(ctx context.Context, t T, delay time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.addAfter(ctx, t, delay)
}

// addAfter must be called with mu held.
func (b *Workqueue[T]) addAfter(ctx context.Context, t T, delay time.Duration) {
	b.metrics.countRetry()
	w := &delayed{at: time.Now().Add(delay)}
	if before := b.waiting[t]; before != nil {
		if !w.at.Before(before.at) {
			return
		}
		before.timer.Stop()
	}
	b.waiting[t] = w
	w.timer = time.AfterFunc(delay, func() { b.addDelayed(ctx, t, w) })
}

func (b *Workqueue[T]) addDelayed(ctx context.Context, t T, w *delayed) {
	b.mu.Lock()
	due := b.waiting[t] == w
	if due {
		delete(b.waiting, t)
	}
	b.mu.Unlock()
	if due && ctx.Err() == nil {
		b.Add(t)
	}
}

// signal wakes one Get if there are items. The caller must hold mu.
func (b *Workqueue[T]) signal() {
	if len(b.items) == 0 {
		return
	}
	select {
	case b.ready <- struct{}{}:
	default:
	}
}

// Get blocks until there are items. It removes and returns some of them, limited by most, or
// returns nil when the context is done. The caller must pass each item to Done. A signal wakes one
// caller, which wakes the next one if it leaves items in the queue.
func (b *Workqueue[T]) Get(ctx context.Context, most int) []T {
	b.observe(ctx)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-b.ready:
		}
		if items := b.take(most); len(items) > 0 {
			return items
		}
	}
}

func (b *Workqueue[T]) take(most int) []T {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := min(most, len(b.items))
	items := b.items[:n:n]
	if b.items = b.items[n:]; len(b.items) == 0 {
		b.items = nil
	}
	now := time.Now()
	for _, t := range items {
		b.metrics.countQueued(now.Sub(b.queued[t]))
		delete(b.queued, t)
		b.processing[t] = now
	}
	b.signal()
	return items
}

// Done ends the processing of an item. If err is not nil, it requeues the item with backoff.
// Otherwise it resets the item's failure count.
func (b *Workqueue[T]) Done(ctx context.Context, t T, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.metrics.countWork(time.Since(b.processing[t]))
	delete(b.processing, t)
	if _, queued := b.queued[t]; queued {
		b.items = append(b.items, t)
		b.signal()
	}
	if err == nil {
		delete(b.failures, t)
		return
	}
	delay := min(MinRetryDelay<<min(b.failures[t], 20), MaxRetryDelay)
	b.failures[t]++
	b.addAfter(ctx, t, delay)
}

// Run processes items, MaxWorkers at a time, until the context is done. It then waits for its
// workers. Failures are retried and reported, except for conflicts, because concurrent changes are
// normal.
func (b *Workqueue[T]) Run(ctx context.Context, do func(context.Context, T) error, report func(T, error)) {
	var workers sync.WaitGroup
	defer workers.Wait()
	slots := make(chan struct{}, MaxWorkers)
	for {
		slots <- struct{}{}
		items := b.Get(ctx, 1)
		if items == nil {
			return
		}
		workers.Go(func() {
			defer func() { <-slots }()
			t := items[0]
			err := do(ctx, t)
			if err != nil && ctx.Err() == nil && !IsConflict(err) {
				report(t, err)
			}
			b.Done(ctx, t, err)
		})
	}
}
