package deadline

import (
	"context"
	"sync"
	"time"
)

// A Lazy is a request context with a deadline. The first call to Done creates its timer, because
// most requests never wait, and a timer may cost more than the request.
//
// Err also cancels the context if the client has disconnected, which it checks only at intervals.
type Lazy struct {
	deadline time.Time
	client   Client          // may be nil
	values   context.Context // may be nil

	mu      sync.Mutex // guards the fields below
	looked  time.Time  // for the client
	done    chan struct{}
	timer   *time.Timer
	stopped bool
}

// A Client is a request's connection. Its methods are safe for concurrent use until Stop.
type Client interface {
	// Pause releases resources that a request needs only while it runs. Lazy.Done calls Pause
	// once.
	Pause()
	// Left reports whether the client has disconnected.
	Left() bool
}

// lookInterval is the minimum time between calls to Client.Left.
const lookInterval = 50 * time.Millisecond

// After returns a context that ends at start plus timeout, or after the client has disconnected. c
// may be nil.
func After(start time.Time, timeout time.Duration, c Client) *Lazy {
	return &Lazy{deadline: start.Add(timeout), client: c, looked: start}
}

var closedChannel = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

func (d *Lazy) Deadline() (time.Time, bool) { return d.deadline, true }

// Done returns a channel that is closed at the deadline, by Stop, or when Err detects that the
// client has disconnected.
func (d *Lazy) Done() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.done != nil {
		return d.done
	}
	if d.stopped {
		d.done = closedChannel
		return d.done
	}
	d.Pause()
	done := make(chan struct{})
	d.done = done
	d.timer = time.AfterFunc(time.Until(d.deadline), d.Stop)
	return done
}

// Pause calls Client.Pause. Callers must call it before they wait for anything other than Done.
func (d *Lazy) Pause() {
	if d.client != nil {
		d.client.Pause()
	}
}

// Err implements context.Context. At most once per lookInterval, it also checks whether the client
// has disconnected.
func (d *Lazy) Err() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now()
	if !now.Before(d.deadline) {
		return context.DeadlineExceeded
	}
	if d.client != nil && !d.stopped && now.Sub(d.looked) >= lookInterval {
		if d.looked = now; d.client.Left() {
			d.stop()
		}
	}
	if d.stopped {
		return context.Canceled
	}
	return nil
}

// SetValues makes Value return the values of ctx. It must be called before the Lazy is shared.
func (d *Lazy) SetValues(ctx context.Context) { d.values = ctx }

// Value returns nil unless SetValues was called.
func (d *Lazy) Value(key any) any {
	if d.values == nil {
		return nil
	}
	return d.values.Value(key)
}

// Stop cancels the context and stops its timer.
func (d *Lazy) Stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stop()
}

func (d *Lazy) stop() {
	if d.stopped {
		return
	}
	d.stopped = true
	if d.timer != nil {
		d.timer.Stop()
	}
	if d.done != nil {
		close(d.done)
	}
}
