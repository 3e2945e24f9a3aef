package flowcontrol

import (
	"context"
	"sync"
	"time"

	"github.com/troupe-api/troupe/policy/authz"
)

// A Request is one that was admitted, or waits to be. It occupies its seats until Finish.
type Request struct {
	attributes authz.Attributes
	schema     *bound
	level      *level
	work       Work
	seats      int // of work
	levelUID   string
	watches    int // that are told of it, if it is a write; else -1

	// Guarded by the level's lock.
	state      state
	queue      *queue  // nil where there are none
	arrival    float64 // in virtual time of the level
	came       int64   // in nanoseconds, as the rest
	began      int64
	next, prev *Request      // in its queue, or among those that are served
	admitted   chan struct{} // tells who waits; made when it is first needed, and kept
}

// A state is where a request is on its way: it goes from waiting to executing to over,
// never back, and may leave out steps.
type state uint8

const (
	waiting state = iota
	executing
	over
)

// requests are used again, with their channels: there is one for every request that the server gets.
var requests = sync.Pool{New: func() any { return new(Request) }}

// UIDs returns the uids of the schema that the request belongs to, and of the level that serves it; ""
// for one that does not exist as an object.
func (r *Request) UIDs() (schema, level string) { return r.schema.uid, r.levelUID }

// setWork sets the work, and the seats that follow from it.
func (r *Request) setWork(w Work) { r.work, r.seats = w, w.seats() }

// Finish gives the seats back, once; the request may not be used any longer.
func (r *Request) Finish() {
	if r.level.finish(r) {
		r.recycle()
	}
}

// recycle gives the request back. Nobody may refer to it any longer: it is in no queue and not among those that are
// served.
func (r *Request) recycle() {
	*r = Request{admitted: r.admitted}
	requests.Put(r)
}

// wait waits until the request is admitted, has waited too long, or is not to wait any longer.
func (r *Request) wait(ctx context.Context, closed <-chan struct{}, longest time.Duration) error {
	timer := time.NewTimer(longest)
	defer timer.Stop()
	select {
	case <-r.admitted:
		return nil
	case <-timer.C:
		return r.level.eject(r, TimeOut)
	case <-ctx.Done():
		return r.level.eject(r, Cancelled)
	case <-closed:
		return r.level.eject(r, Cancelled)
	}
}

// A Reason says why a request was refused.
type Reason string

// Reasons, as they are counted.
const (
	QueueFull        Reason = "queue-full"        // too many wait in each of its queues
	ConcurrencyLimit Reason = "concurrency-limit" // the level has no seats left, and no queues
	TimeOut          Reason = "time-out"          // it has waited for too long
	Cancelled        Reason = "cancelled"         // its client has gone, or the server stops
)

// A RejectedError refuses a request.
type RejectedError struct {
	Reason                          Reason
	RetryAfter                      int // seconds after which the client may come again
	FlowSchemaUID, PriorityLevelUID string
}

// Error implements error.
func (e *RejectedError) Error() string { return "too many requests: " + string(e.Reason) }
