package webhookclient

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

const (
	// maxCalls limits the number of concurrent calls per client.
	maxCalls = 128
	// stuckAfter is the time without any response after which calls beyond maxCalls fail
	// immediately instead of waiting.
	stuckAfter = time.Second
	// maxFailures is the number of consecutive connection failures after which calls fail
	// immediately.
	maxFailures = 5
	// probePeriod is the minimum time between two probes if the first one is still running. A probe
	// is a call that tries to connect although earlier calls have failed.
	probePeriod = time.Second
)

// A circuit is a circuit breaker for an unresponsive webhook. Without it, a webhook that is down
// would delay each request by its timeout of up to 30 seconds, even with failurePolicy Ignore. A
// circuit is safe for concurrent use.
type circuit struct {
	slots chan struct{} // one per running call

	mu         sync.Mutex // guards the fields below
	failures   int        // connection failures since the last success
	lastError  error      // error of the last connection failure
	probing    int        // number of running probes
	probedAt   time.Time  // start of the last probe
	answeredAt time.Time  // time of the last response, or of the first call after an idle period
}

func newCircuit() *circuit { return &circuit{slots: make(chan struct{}, maxCalls)} }

var errStuck = errors.New("too many calls are waiting for its response")

// enter starts a call. ctx limits the call, and request is the context of the API request that
// needs the call. If the request ends early, the call does not count as a webhook failure. The
// caller must call leave exactly once, with the call's error and whether it connected.
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

// admit returns an error if the call must fail immediately. probe reports whether the call is a
// probe. If no calls are running, admit resets the time of the last response (answeredAt), so that
// idle time does not count as time without a response.
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

// wait blocks until a slot is free. It returns an error if running calls get no responses. It
// polls, because nothing signals a missing response.
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

// note records the result of a call. A failed connection does not count if the client canceled the
// API request.
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
