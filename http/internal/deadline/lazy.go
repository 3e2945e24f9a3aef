package deadline

import (
	"context"
	"sync"
	"time"
)

// A Lazy is a context that ends at a deadline. Most requests are answered without
// waiting, so the timer is made only when Done is called: a timer for each request would cost more than
// many of the answers.
type Lazy struct {
	deadline time.Time
	waiter   Waiter // may be nil

	mu      sync.Mutex // guards the rest
	done    chan struct{}
	timer   *time.Timer
	stopped bool
}

// A Waiter gives up what it needs only while it works. Any goroutine may tell it to.
type Waiter interface{ Pause() }

// At makes a context that ends at t. The waiter, if there is one, pauses when Done is first called: somebody
// is about to wait.
func At(t time.Time, w Waiter) *Lazy { return &Lazy{deadline: t, waiter: w} }

var closedChannel = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// Deadline implements context.Context.
func (d *Lazy) Deadline() (time.Time, bool) { return d.deadline, true }

// Done is closed at the deadline, or when the request is over.
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

// Err tells why Done is closed.
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

// Value implements context.Context: there are no values.
func (d *Lazy) Value(any) any { return nil }

// Stop ends the context.
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
