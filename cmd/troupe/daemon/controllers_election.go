package daemon

import (
	"context"

	"github.com/troupe-api/troupe/actors/controllers"
)

// startElection lets the daemon stand for election, if there may be others on the same state.
func (d *Daemon) startElection() {
	if d.etcd != nil {
		d.election = controllers.NewElection(d.store, d.kinds, d.log)
		d.controllers.run(d.election.Run)
	}
}

// runWhereLeading runs work until the daemon stops: of several daemons on one state, on the one that leads.
func (d *Daemon) runWhereLeading(work func(context.Context)) {
	if d.election == nil {
		d.controllers.run(work)
		return
	}
	d.controllers.run(func(ctx context.Context) { d.election.Lead(ctx, work) })
}

// leadersStore is the store for controllers that only the daemon runs that leads.
func (d *Daemon) leadersStore() controllers.Store {
	if d.election == nil {
		return d.store
	}
	return d.election.Fenced(d.store)
}
