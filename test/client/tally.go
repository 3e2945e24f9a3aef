package client

import "sync"

// A Tally counts a load generator's operations, so that faults occur after the same number of
// operations on any machine. It is safe for concurrent use, except that only one goroutine may wait
// at a time.
type Tally struct {
	mu      sync.Mutex
	n, at   int
	reached chan struct{} // nil while no one waits
}

// Add counts one operation.
func (c *Tally) Add() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
	c.check()
}

// Count returns the number of operations.
func (c *Tally) Count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}

// After returns a channel that is closed after n more operations.
func (c *Tally) After(n int) <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	reached := make(chan struct{})
	c.at, c.reached = c.n+n, reached
	c.check()
	return reached
}

func (c *Tally) check() {
	if c.reached != nil && c.n >= c.at {
		close(c.reached)
		c.reached = nil
	}
}
