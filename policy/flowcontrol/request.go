package flowcontrol

import (
	"context"
	"sync"
	"time"

	"github.com/troupe-api/troupe/policy/authz"
)

// A Request is a waiting or admitted request. It occupies its seats until Finish.
type Request struct {
	SchemaUID, LevelUID string // "" for a schema or level that is not an object

	attributes authz.Attributes
	schema     *bound
	level      *level
	work       Work
	seats      int // seats of work
	watches    int // number of watches that receive the write; -1 for other requests

	// The level's lock guards the fields below.
	state      state
	queue      *queue  // nil if the level has no queues
	arrival    float64 // arrival in the level's virtual time
	came       int64   // arrival in nanoseconds, like began
	began      int64
	next, prev *Request      // neighbors in the queue or among executing requests
	admitted   chan struct{} // signals a waiting request; created on first use and kept
}

// A state changes from waiting to executing to over. A request that is admitted immediately never
// waits, and a rejected request never executes.
type state uint8

const (
	waiting state = iota
	executing
	over
)

// requests pools Requests with their channels, because every request to the server needs one.
var requests = sync.Pool{New: func() any { return new(Request) }}

// Finish frees the seats. The Request must not be used afterwards.
func (r *Request) Finish() {
	if r.level.finish(r) {
		requests.Put(r)
	}
}

// wait blocks until the request is admitted or rejected. It returns the rejection error, if any.
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

// A Reason is a rejection reason, spelled as in metrics.
type Reason string

const (
	QueueFull        Reason = "queue-full"        // the queue is full
	ConcurrencyLimit Reason = "concurrency-limit" // the level has no free seats and no queues
	TimeOut          Reason = "time-out"          // the request has waited too long
	Cancelled        Reason = "cancelled"         // the client disconnected, or the server is stopping
)

// A RejectedError reports why a request was rejected.
type RejectedError struct {
	Reason                          Reason
	RetryAfter                      int // in seconds
	FlowSchemaUID, PriorityLevelUID string
}

func (e *RejectedError) Error() string { return "too many requests: " + string(e.Reason) }
