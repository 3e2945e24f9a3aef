package reconcile

import (
	"context"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
)

// Store is the part of actors.Store that controllers use: the same operations as requests.
type Store interface {
	Get(ctx context.Context, r request.Get) (*meta.Object, error)
	List(ctx context.Context, r request.List) (request.ListResult, error)
	Watch(ctx context.Context, r request.Watch, sink request.Sink) (request.Session, error)
	Mutate(ctx context.Context, m request.Mutation) (request.Result, error)
	DeleteCollection(ctx context.Context, l request.List, m request.Mutation) (request.ListResult, error)
}
