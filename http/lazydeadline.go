package http

import (
	"context"
	"sync"
	"time"
)

// A lazyDeadline is a context that ends at a deadline. Most requests are answered without
// waiting, so the timer is made only when Done is called: a timer for each request would cost more than
// many of the answers.
type lazyDeadline struct {
	deadline time.Time

	mu      sync.Mutex // guards the rest
	done    chan struct{}
	timer   *time.Timer
	stopped bool
}

var closedChannel = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// Deadline implements context.Context.
func (d *lazyDeadline) Deadline() (time.Time, bool) { return d.deadline, true }

// Done is closed at the deadline, or when the request is over.
func (d *lazyDeadline) Done() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.done != nil {
		return d.done
	}
	if d.stopped {
		d.done = closedChannel
		return d.done
	}
	done := make(chan struct{})
	d.done = done
	d.timer = time.AfterFunc(time.Until(d.deadline), d.stop)
	return done
}

// Err tells why Done is closed.
func (d *lazyDeadline) Err() error {
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

// Value implements context.Context: there are no values.
func (d *lazyDeadline) Value(any) any { return nil }

// stop ends the context.
func (d *lazyDeadline) stop() {
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
