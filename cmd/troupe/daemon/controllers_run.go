package daemon

import (
	"context"
	"sync"

	"github.com/troupe-api/troupe/actors/controllers"
)

// A remadeController is made anew for each run, since a controller has state of its own.
type remadeController struct {
	next   controller // for the next run; nil: create makes it
	create func() controller
}

// newRemadeController makes the first controller at once.
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

// A yieldingController is stopped while kube-controller-manager runs its twin.
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
		// The next turn begins when this one has ended, so that never two of them work at a time.
		work.Wait()
	}
}
