package actors

import (
	"runtime"
	"sync"

	"github.com/asynkron/protoactor-go/actor"
)

// crew is a dispatcher that runs actors on few goroutines, one after another: their
// stacks have grown already, which is a large part of the cost of a short run. Members
// may block in what they run. Whoever takes work while there is more calls up another
// member, unless one has been called that has not begun: so there is always one that
// goes on when the others are blocked, and hardly ever one too many.
// Its mutex guards its fields for a few instructions.
type crew struct {
	throughput int
	reserve    int // most members that stay while there is nothing to do

	mu      sync.Mutex
	jobs    queue[func()]
	waiting int // members in reserve that are not called
	called  bool
	call    chan struct{} // has room for the whole reserve
}

func newCrew(throughput int) *crew {
	reserve := 8 * runtime.GOMAXPROCS(0)
	return &crew{throughput: throughput, reserve: reserve, call: make(chan struct{}, reserve)}
}

// Throughput implements actor.Dispatcher.
func (c *crew) Throughput() int { return c.throughput }

// Schedule implements actor.Dispatcher.
func (c *crew) Schedule(job func()) { c.schedule(job) }

// schedule has jobs done; many at once cost less than one by one.
func (c *crew) schedule(jobs ...func()) {
	c.mu.Lock()
	for _, job := range jobs {
		c.jobs.push(job)
	}
	c.summon()
	c.mu.Unlock()
}

// summon calls up a member if there is work and nobody on the way to it. The caller
// holds mu.
func (c *crew) summon() {
	if c.called || c.jobs.length() == 0 {
		return
	}
	c.called = true
	if c.waiting == 0 {
		go c.work()
		return
	}
	c.waiting--
	c.call <- struct{}{}
}

// work is the life of one member.
func (c *crew) work() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.called = false; ; c.called = false {
		for c.jobs.length() > 0 {
			job := c.jobs.pop()
			c.summon()
			c.mu.Unlock()
			job()
			c.mu.Lock()
		}
		if c.waiting >= c.reserve {
			return
		}
		c.waiting++
		c.mu.Unlock()
		<-c.call
		c.mu.Lock()
	}
}

// close lets the reserve go, now and later. Work is done as before.
func (c *crew) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reserve = 0
	for ; c.waiting > 0; c.waiting-- {
		c.call <- struct{}{}
	}
}

var _ actor.Dispatcher = (*crew)(nil)
