package deadline

import (
	"context"
	"sync"
	"time"
)

// A Lazy is a context with a deadline. Its timer is created by the first call of Done: most
// requests are answered without waiting, and a timer would cost more than many of them.
type Lazy struct {
	deadline time.Time
	waiter   Waiter // may be nil

	mu      sync.Mutex // guards the fields below
	done    chan struct{}
	timer   *time.Timer
	stopped bool
}

// A Waiter releases resources that it needs only for work. Pause is safe for concurrent use.
type Waiter interface{ Pause() }

// At returns a context that ends at t. The first Done pauses w unless it is nil.
func At(t time.Time, w Waiter) *Lazy { return &Lazy{deadline: t, waiter: w} }

var closedChannel = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

func (d *Lazy) Deadline() (time.Time, bool) { return d.deadline, true }

// Done is closed at the deadline or by Stop.
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
	if d.waiter != nil {
		d.waiter.Pause()
	}
	done := make(chan struct{})
	d.done = done
	d.timer = time.AfterFunc(time.Until(d.deadline), d.Stop)
	return done
}

// Err implements context.Context.
func (d *Lazy) Err() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case !time.Now().Before(d.deadline):
		return context.DeadlineExceeded
	case d.stopped:
		return context.Canceled
	}
	return nil
}

// Value returns nil.
func (d *Lazy) Value(any) any { return nil }

// Stop cancels the context.
func (d *Lazy) Stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
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
