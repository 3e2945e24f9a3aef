package audit

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// BatchOptions configures batching. A batch is sent once it has MaxSize Events, or MaxWait after
// its first Event.
type BatchOptions struct {
	BufferSize    int           // maximum number of waiting Events; more are dropped
	MaxSize       int           // Events per batch
	MaxWait       time.Duration // maximum time that an Event waits for others
	ThrottleQPS   float64       // average rate of batches; 0 means unlimited
	ThrottleBurst int           // batches at once, if ThrottleQPS is set
}

// maxBufferedBytes limits the size of buffered events, because bodies may be large.
const maxBufferedBytes = 64 << 20

// A batcher groups lines into batches. Callers only append to the queue. One goroutine takes
// batches from the queue, and each batch is stored by its own goroutine.
type batcher struct {
	options BatchOptions
	store   func(ctx context.Context, lines [][]byte) bool
	slots   chan struct{} // one per batch being stored
	// wake has capacity 1. A value is sent when the first line of a batch arrives, when a batch is
	// complete, and when the batcher is closed.
	wake    chan struct{}
	closing chan struct{}
	done    chan struct{} // closed when everything is stored
	ctx     context.Context
	cancel  context.CancelFunc

	mu      sync.Mutex // guards the fields below
	queue   [][]byte
	bytes   int // size of waiting and unstored lines
	pending int // number of waiting and unstored lines
	closed  bool
}

func newBatcher(o BatchOptions, parallel int, store func(context.Context, [][]byte) bool) *batcher {
	b := &batcher{
		options: o, store: store, slots: make(chan struct{}, parallel), wake: make(chan struct{}, 1),
		closing: make(chan struct{}), done: make(chan struct{}),
	}
	b.ctx, b.cancel = context.WithCancel(context.Background())
	go b.run()
	return b
}

var (
	errFull   = errors.New("the buffer is full")
	errClosed = errors.New("the backend is closed")
)

// put adds a copy of line to the queue without blocking. The caller may reuse line. put wakes run
// only for the first line of a batch and the line that completes it.
func (b *batcher) put(line []byte) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.closed:
		return errClosed
	case len(b.queue) >= b.options.BufferSize || b.bytes+len(line) > maxBufferedBytes:
		return errFull
	}
	b.queue = append(b.queue, slices.Clone(line))
	b.bytes += len(line)
	b.pending++
	if n := len(b.queue); n == 1 || n == b.options.MaxSize {
		b.signal()
	}
	return nil
}

func (b *batcher) signal() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// run stores batches until the batcher is closed and empty. It dequeues a batch before it waits for
// the rate limiter and a slot, so a slow backend blocks that batch and the queue. Concurrent
// batches may be reordered.
func (b *batcher) run() {
	defer close(b.done)
	var storing sync.WaitGroup
	limit := rate.NewLimiter(rate.Inf, 0)
	if b.options.ThrottleQPS > 0 {
		limit = rate.NewLimiter(rate.Limit(b.options.ThrottleQPS), b.options.ThrottleBurst)
	}
	for lines := b.next(); len(lines) > 0; lines = b.next() {
		b.pause(limit.Reserve().Delay())
		b.slots <- struct{}{}
		storing.Go(func() {
			b.store(b.ctx, lines)
			b.release(lines)
			<-b.slots
		})
	}
	storing.Wait()
}

// next returns the next batch. It blocks until the batch is full, or MaxWait has passed since next
// saw the first line. Once the batcher is closed and empty, it returns nothing. No timer runs while
// the queue is empty.
func (b *batcher) next() [][]byte {
	var due <-chan time.Time
	ripe := b.options.MaxWait <= 0
	for {
		lines, some, over := b.take(ripe)
		if len(lines) > 0 || over {
			return lines
		}
		if some && due == nil {
			due = time.After(b.options.MaxWait)
		}
		select {
		case <-b.wake:
		case <-due:
			ripe = true
		}
	}
}

// take returns the next batch if the batch is full, flush is set, or the batcher is closed. some
// reports whether lines are waiting. over reports whether the batcher is closed and empty. If lines
// remain, take signals again, because the signal for these lines may have been lost.
func (b *batcher) take(flush bool) (lines [][]byte, some, over bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := len(b.queue)
	if n == 0 || n < b.options.MaxSize && !flush && !b.closed {
		return nil, n > 0, b.closed && n == 0
	}
	n = min(n, b.options.MaxSize)
	lines = slices.Clone(b.queue[:n])
	b.queue = slices.Delete(b.queue, 0, n)
	if len(b.queue) > 0 {
		b.signal()
	}
	return lines, true, false
}

func (b *batcher) pause(d time.Duration) {
	if d <= 0 {
		return
	}
	select {
	case <-time.After(d):
	case <-b.closing:
	}
}

func (b *batcher) release(lines [][]byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, line := range lines {
		b.bytes -= len(line)
	}
	b.pending -= len(lines)
}

// close stores the waiting lines without delay, until ctx ends. It returns the number of lines that
// were not stored by then. Some of them may still arrive.
func (b *batcher) close(ctx context.Context) (left int) {
	b.mu.Lock()
	first := !b.closed
	b.closed = true
	b.mu.Unlock()
	if first {
		close(b.closing)
		b.signal()
	}
	defer b.cancel()
	select {
	case <-b.done:
		return 0
	case <-ctx.Done():
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.pending
}
