package daemon

import (
	"context"

	"github.com/troupe-api/troupe/actors/controllers"
)

// leadership decides which of several daemons on one state runs controllers. A daemon that has the state for itself
// always leads.
type leadership struct {
	base
	storage *storage

	election *controllers.Election // nil if no other daemon shares the state
}

func (l *leadership) Start() error {
	if l.storage.state.etcd != nil {
		l.election = controllers.NewElection(controllers.NewEnv(l.storage.store, l.storage.kinds, l.log))
		l.run(l.election.Run)
	}
	return nil
}

// lead runs work until the context ends, whenever this daemon leads.
func (l *leadership) lead(ctx context.Context, work func(context.Context)) {
	if l.election == nil {
		work(ctx)
		return
	}
	l.election.Lead(ctx, work)
}

// store returns the store of controllers that run where the daemon leads.
func (l *leadership) store() controllers.Store {
	if l.election == nil {
		return l.storage.store
	}
	return l.election.Fenced(l.storage.store)
}
