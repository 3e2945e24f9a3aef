package daemon

import (
	"context"
	"sync"

	"github.com/troupe-api/troupe/actors/controllers"
)

// A remadeController creates a new controller for each run, because controllers are stateful.
type remadeController struct {
	next   controller // for the next run; nil if create must be called
	create func() controller
}

// newRemadeController creates the first controller immediately, so that callers can inspect it.
func newRemadeController(create func() controller) *remadeController {
	return &remadeController{create(), create}
}

func (r *remadeController) Run(ctx context.Context) {
	c := r.next
	r.next = nil
	if c == nil {
		c = r.create()
	}
	c.Run(ctx)
}

// A yieldingController pauses its controller while a process that contains the same controller is
// the leader.
type yieldingController struct {
	controller
	leader *controllers.Leader
}

func (y yieldingController) Run(ctx context.Context) {
	for ctx.Err() == nil {
		holder, changed := y.leader.Holder(ctx)
		running, stop := context.WithCancel(ctx)
		var work sync.WaitGroup
		if holder == "" {
			work.Go(func() { y.controller.Run(running) })
		}
		select {
		case <-changed:
		case <-ctx.Done():
		}
		stop()
		// Wait before the next run, so that two instances never overlap.
		work.Wait()
	}
}
