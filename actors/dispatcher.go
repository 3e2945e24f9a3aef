package actors

import (
	"runtime"
	"sync"

	"github.com/asynkron/protoactor-go/actor"
)

// dispatcher is a dispatcher that runs actors on few goroutines, one after another: their
// stacks have grown already, which is a large part of the cost of a short run. Members
// may block in what they run. Whoever takes work while there is more calls up another
// member, unless one has been called that has not begun: so there is always one that
// goes on when the others are blocked, and hardly ever one too many.
// Its mutex guards its fields for a few instructions.
type dispatcher struct {
	throughput int
	maxIdle    int // most members that stay while there is nothing to do

	mu     sync.Mutex
	jobs   queue[func()]
	idle   int // members in reserve that are not called
	waking bool
	wake   chan struct{} // has room for the whole reserve
}

func newDispatcher(throughput int) *dispatcher {
	maxIdle := 8 * runtime.GOMAXPROCS(0)
	return &dispatcher{throughput: throughput, maxIdle: maxIdle, wake: make(chan struct{}, maxIdle)}
}

// Throughput implements actor.Dispatcher.
func (c *dispatcher) Throughput() int { return c.throughput }

// Schedule implements actor.Dispatcher.
func (c *dispatcher) Schedule(job func()) { c.schedule(job) }

// schedule has jobs done; many at once cost less than one by one.
func (c *dispatcher) schedule(jobs ...func()) {
	c.mu.Lock()
	for _, job := range jobs {
		c.jobs.push(job)
	}
	c.wakeWorker()
	c.mu.Unlock()
}

// wakeWorker calls up a member if there is work and nobody on the way to it. The caller
// holds mu.
func (c *dispatcher) wakeWorker() {
	if c.waking || c.jobs.length() == 0 {
		return
	}
	c.waking = true
	if c.idle == 0 {
		go c.runWorker()
		return
	}
	c.idle--
	c.wake <- struct{}{}
}

// runWorker is the life of one member.
func (c *dispatcher) runWorker() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.waking = false; ; c.waking = false {
		for c.jobs.length() > 0 {
			job := c.jobs.pop()
			c.wakeWorker()
			c.mu.Unlock()
			job()
			c.mu.Lock()
		}
		if c.idle >= c.maxIdle {
			return
		}
		c.idle++
		c.mu.Unlock()
		<-c.wake
		c.mu.Lock()
	}
}

// close lets the reserve go, now and later. Work is done as before.
func (c *dispatcher) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.maxIdle = 0
	for ; c.idle > 0; c.idle-- {
		c.wake <- struct{}{}
	}
}

var _ actor.Dispatcher = (*dispatcher)(nil)
