package daemon

import (
	"context"

	"github.com/troupe-api/troupe/actors/controllers"
)

// leadership elects a leader among the daemons that share storage. A daemon with its own data
// directory always leads.
type leadership struct {
	base

	election *controllers.Election // nil if no other daemon shares the state
}

func (l *leadership) Start() error {
	if l.storage.state.etcd != nil {
		l.election = controllers.NewElection(controllers.NewEnv(l.storage.store, l.storage.kinds, l.log))
		l.run(l.election.Run)
	}
	return nil
}

func (l *leadership) lead(ctx context.Context, work func(context.Context)) {
	if l.election == nil {
		work(ctx)
		return
	}
	l.election.Lead(ctx, work)
}

// store returns the store for controllers that run only on the leader. With an election, the store
// fences their writes, so that a former leader cannot write.
func (l *leadership) store() controllers.Store {
	if l.election == nil {
		return l.storage.store
	}
	return l.election.Fenced(l.storage.store)
}
