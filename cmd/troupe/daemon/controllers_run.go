package daemon

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/troupe-api/troupe/actors/controllers"
)

// runController runs a built-in controller until the context ends: of several daemons on one state, on the one that leads. One that
// kube-controller-manager runs too stands back while that does.
func (d *Daemon) runController(ctx context.Context, b builtIn, c controller) {
	ctx = controllers.WithWorkqueueMetrics(ctx, d.workqueueMetrics, b.name)
	if d.election == nil || b.runsOn == everyDaemon {
		d.runTwin(ctx, b, c)
		return
	}
	d.election.Lead(ctx, func(ctx context.Context) {
		current := c
		// It has state of its own: it is made anew for the next time that this daemon leads.
		c = nil
		if current == nil {
			current = d.newController(b)
		}
		d.runTwin(ctx, b, current)
	})
}

// runTwin runs a controller until the context ends, but not while kube-controller-manager runs its twin.
func (d *Daemon) runTwin(ctx context.Context, b builtIn, c controller) {
	if !b.yields() || b.twin == pauses {
		c.Run(ctx)
		return
	}
	for ctx.Err() == nil {
		holder, changed := d.leader.Holder(ctx)
		// It is made only when it is to run: one that stands back must not begin to follow anything.
		if holder == "" && c == nil {
			c = d.newController(b)
		}
		// Run gets this one, as c is set to nil at once.
		current := c
		running, stop := context.WithCancel(ctx)
		var work sync.WaitGroup
		if holder == "" {
			work.Go(func() { current.Run(running) })
			c = nil // it has state of its own: the next one begins anew
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

// followLeader follows who runs controllers beside the daemon, from the first that has to stand back.
func (d *Daemon) followLeader() {
	if d.leader == nil {
		d.leader = controllers.NewLeader(d.store, d.kinds, d.log)
		d.controllers.run(d.leader.Run)
	}
}

// trustFollowers are what is called when what clients are to trust has changed, by the names of controllers. The
// reloader calls each of them in its newest form, as a controller that stood back is made anew.
type trustFollowers struct {
	byName map[string]*atomic.Pointer[func()]
}

// followTrust makes publish the follower of a name. The first one of a name must come before the reloader runs.
func (d *Daemon) followTrust(name string, publish func()) {
	current := d.trust.byName[name]
	if current == nil {
		current = &atomic.Pointer[func()]{}
		d.trust.byName[name] = current
		d.identity.onTrustChange(func() { (*current.Load())() })
	}
	current.Store(&publish)
}
