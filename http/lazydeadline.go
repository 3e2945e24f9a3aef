package http

import (
	"context"
	"sync"
	"time"
)

// A patience is a context that ends at a deadline. Most requests are answered without
// anybody waiting, so the timer is made only for who asks for Done.
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

// Deadline is when the client's time is up.
func (p *lazyDeadline) Deadline() (time.Time, bool) { return p.deadline, true }

// Done is closed at the deadline, or when the request is over.
func (p *lazyDeadline) Done() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.done != nil {
		return p.done
	}
	if p.stopped {
		p.done = closedChannel
		return p.done
	}
	done := make(chan struct{})
	p.done = done
	p.timer = time.AfterFunc(time.Until(p.deadline), p.stop)
	return done
}

// Err tells why Done is closed.
func (p *lazyDeadline) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case !time.Now().Before(p.deadline):
		return context.DeadlineExceeded
	case p.stopped:
		return context.Canceled
	}
	return nil
}

// Value knows nothing.
func (p *lazyDeadline) Value(any) any { return nil }

// stop ends the context.
func (p *lazyDeadline) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		return
	}
	p.stopped = true
	if p.timer != nil {
		p.timer.Stop()
	}
	if p.done != nil {
		close(p.done)
	}
}
