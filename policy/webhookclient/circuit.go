package webhookclient

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

const (
	// maxCalls are the calls of one client at a time.
	maxCalls = 128
	// stuckAfter is how long a client with as many calls may have had no answer before more fail at once.
	stuckAfter = time.Second
	// maxFailures are the failures to connect, one after the other, after which calls fail at once.
	maxFailures = 5
	// probePeriod is the time after which another call may try to connect while one still does.
	probePeriod = time.Second
)

// A circuit keeps calls from waiting for somebody who does not answer. Many goroutines may use it. Without
// it, a hook that is down would hold the goroutine of each request for its timeout, up to 30 seconds, and
// its failurePolicy Ignore would make every write slow.
type circuit struct {
	slots chan struct{} // one for each call under way

	mu         sync.Mutex // guards the rest
	failures   int        // to connect, since a connection was made
	lastError  error      // of them
	probing    int        // calls that try to connect although the ones before could not
	probedAt   time.Time  // when the last of them began
	answeredAt time.Time  // when the last call was answered, or the first began after a time without any
}

func newCircuit() *circuit { return &circuit{slots: make(chan struct{}, maxCalls)} }

var errStuck = errors.New("as many calls as may be made at a time wait for its answer")

// enter begins a call that ends with ctx, for a request that ends with the context request. The caller ends
// it by the function that it gets, with the error of the call and whether it was connected. The two
// contexts differ in what their end means: that of the request is the client's impatience, that of the call
// the hook's slowness. leave must be called exactly once.
func (c *circuit) enter(ctx, request context.Context) (leave func(connected bool, err error), err error) {
	probe, err := c.admit()
	if err != nil {
		return nil, err
	}
	select {
	case c.slots <- struct{}{}:
	default:
		if err := c.wait(ctx); err != nil {
			c.endProbe(probe)
			return nil, err
		}
	}
	return func(connected bool, err error) {
		<-c.slots
		c.endProbe(probe)
		c.note(connected, err, request.Err() != nil)
	}, nil
}

// admit tells whether a call may be made now, and whether it is one that only tries to connect. After a
// quiet time the clock for answers starts anew, or the first burst would find the circuit stuck.
func (c *circuit) admit() (probe bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if len(c.slots) == 0 {
		c.answeredAt = now
	}
	if c.failures < maxFailures {
		return false, nil
	}
	if c.probing > 0 && now.Sub(c.probedAt) < probePeriod {
		return false, fmt.Errorf("the last calls could not connect: %w", c.lastError)
	}
	c.probing++
	c.probedAt = now
	return true, nil
}

func (c *circuit) endProbe(probe bool) {
	if !probe {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.probing--
}

// wait waits for a slot, unless all are taken by calls that nobody answers. A ticker looks again whether
// answers still come, since nobody signals that they do not.
func (c *circuit) wait(ctx context.Context) error {
	tick := time.NewTicker(stuckAfter / 4)
	defer tick.Stop()
	for {
		if c.stuck() {
			return errStuck
		}
		select {
		case c.slots <- struct{}{}:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

func (c *circuit) stuck() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Since(c.answeredAt) > stuckAfter
}

// note takes in how a call has ended. One that its request gave up says nothing about a connection that was not
// made.
func (c *circuit) note(connected bool, err error, gaveUp bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if connected {
		c.failures, c.lastError = 0, nil
	}
	switch {
	case err == nil:
		c.answeredAt = time.Now()
	case !connected && !gaveUp:
		c.failures++
		c.lastError = err
	}
}
