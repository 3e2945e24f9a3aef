package audit

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// BatchOptions are how Events are gathered.
//
// Example: with MaxSize 400 and MaxWait 30 s an Event is sent when 400 wait, or 30 seconds after it came, whichever
// is first.
type BatchOptions struct {
	BufferSize    int           // Events that may wait; more are lost
	MaxSize       int           // most Events in one batch
	MaxWait       time.Duration // most time that an Event waits for others
	ThrottleQPS   float64       // batches on average; 0 is no bound
	ThrottleBurst int           // batches at once, where there is a bound
}

// maxBufferedBytes bounds what waits and what is being stored, in bytes.
//
// The number of Events alone bounds nothing, as one with bodies may have megabytes.
const maxBufferedBytes = 64 << 20

// A batcher gathers lines into batches. Its callers only put lines into the queue; a goroutine takes
// batches from the queue, and each is stored by a goroutine of its own.
type batcher struct {
	options BatchOptions
	store   func(ctx context.Context, lines [][]byte) bool
	slots   chan struct{} // one taken for each batch that is being stored
	wake    chan struct{} // capacity 1; sent to for the first line of a batch, for the last one that fits, and on closing
	closing chan struct{}
	done    chan struct{} // closed when everything has been stored
	ctx     context.Context
	cancel  context.CancelFunc

	mu      sync.Mutex // guards the rest
	queue   [][]byte
	bytes   int // of lines that wait or are being stored
	pending int // lines that wait or are being stored
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

// put copies a line into the queue. It never waits.
//
// The line is cloned because its memory is that of the Record, which is used for the next request. The queue is only
// woken for the first line and for the one that fills a batch, so that a busy server does not wake it for each
// request.
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

// run hands batches out until there is nothing left and nothing more to come.
//
// A batch is taken before its token and its slot: while a service is slow, what waits is in the queue and in this one
// batch. The order of batches is not kept where several may be stored at a time.
func (b *batcher) run() {
	defer close(b.done)
	var storing sync.WaitGroup
	limit := tokenBucket{perSecond: b.options.ThrottleQPS, burst: float64(b.options.ThrottleBurst), tokens: float64(b.options.ThrottleBurst), last: time.Now()}
	for lines := b.next(); len(lines) > 0; lines = b.next() {
		b.pause(limit.take(time.Now()))
		b.slots <- struct{}{}
		storing.Go(func() {
			b.store(b.ctx, lines)
			b.release(lines)
			<-b.slots
		})
	}
	storing.Wait()
}

// next waits for a batch: a full one, or what there is when the first line has waited long
// enough. It is empty when nothing more will come.
//
// The time of MaxWait begins when this call first sees a line, at the latest MaxWait after the batch before was
// taken; there is no timer while nothing waits.
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

// take takes a batch if there is one; some tells that lines wait, over that none will come.
//
// It signals itself again if more is left, because the signal for those lines may have been used up already.
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

// pause waits, but not when the batcher is closing.
func (b *batcher) pause(d time.Duration) {
	if d <= 0 {
		return
	}
	select {
	case <-time.After(d):
	case <-b.closing:
	}
}

// release makes room for what has been stored or lost.
func (b *batcher) release(lines [][]byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, line := range lines {
		b.bytes -= len(line)
	}
	b.pending -= len(lines)
}

// close stores what waits. When ctx ends it gives up, and tells how many lines were left.
//
// Pauses end at once and batches need not be full any more. What is left when ctx ends is counted as not stored,
// though a post that is on its way may still arrive.
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

// A tokenBucket bounds the rate of batches: each takes a token, and tokens come back with time.
//
// It belongs to the goroutine of run, and needs no lock. Tokens may be below zero: that is how long those before have
// still to wait.
type tokenBucket struct {
	perSecond, burst, tokens float64
	last                     time.Time
}

// take takes a token, and is how long to wait until it is there.
func (k *tokenBucket) take(now time.Time) time.Duration {
	if k.perSecond <= 0 {
		return 0
	}
	k.tokens = min(k.burst, k.tokens+now.Sub(k.last).Seconds()*k.perSecond) - 1
	k.last = now
	return time.Duration(max(-k.tokens, 0) / k.perSecond * float64(time.Second))
}
