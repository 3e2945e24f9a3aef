package runtime

import (
	"runtime"
	"sync"

	"github.com/asynkron/protoactor-go/actor"
)

// dispatcher runs owners on a pool of goroutines. Reused goroutines are cheaper for short runs,
// because their stacks have already grown. An owner may block, so a worker that takes a job wakes
// another worker for the remaining ones.
type dispatcher struct {
	throughput int
	maxIdle    int // maximum number of idle workers

	mu     sync.Mutex
	jobs   queue[func()]
	idle   int // workers that wait for wake
	waking bool
	wake   chan struct{} // has capacity for all idle workers
}

func newDispatcher(throughput int) *dispatcher {
	maxIdle := 8 * runtime.GOMAXPROCS(0)
	return &dispatcher{throughput: throughput, maxIdle: maxIdle, wake: make(chan struct{}, maxIdle)}
}

func (d *dispatcher) Throughput() int { return d.throughput }

func (d *dispatcher) Schedule(job func()) { d.schedule(job) }

func (d *dispatcher) schedule(jobs ...func()) {
	d.mu.Lock()
	for _, job := range jobs {
		d.jobs.push(job)
	}
	d.wakeWorker()
	d.mu.Unlock()
}

// wakeWorker wakes or starts a worker if jobs are queued and no worker is starting. The caller must
// hold mu.
func (d *dispatcher) wakeWorker() {
	if d.waking || d.jobs.length() == 0 {
		return
	}
	d.waking = true
	if d.idle == 0 {
		go d.runWorker()
		return
	}
	d.idle--
	d.wake <- struct{}{}
}

// runWorker runs jobs. If none is queued, it waits, or returns if enough workers are idle.
func (d *dispatcher) runWorker() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for d.waking = false; ; d.waking = false {
		for d.jobs.length() > 0 {
			job := d.jobs.pop()
			d.wakeWorker()
			d.mu.Unlock()
			job()
			d.mu.Lock()
		}
		if d.idle >= d.maxIdle {
			return
		}
		d.idle++
		d.mu.Unlock()
		<-d.wake
		d.mu.Lock()
	}
}

// close stops idle workers immediately, and busy workers when they become idle. Queued jobs still
// run.
func (d *dispatcher) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.maxIdle = 0
	for ; d.idle > 0; d.idle-- {
		d.wake <- struct{}{}
	}
}

var _ actor.Dispatcher = (*dispatcher)(nil)
