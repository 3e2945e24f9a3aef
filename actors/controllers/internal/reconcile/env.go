package reconcile

import (
	"context"
	"log/slog"
	"sync"

	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
)

// A Store is the part of the object store that controllers need.
type Store interface {
	Get(ctx context.Context, r request.Get) (*meta.Object, error)
	List(ctx context.Context, r request.List) (request.ListResult, error)
	Watch(ctx context.Context, r request.Watch, sink request.Sink) (request.Session, error)
	Mutate(ctx context.Context, m request.Mutation) (request.Result, error)
	DeleteCollection(ctx context.Context, l request.List, m request.Mutation) (request.ListResult, error)
}

// An Env holds the dependencies of controllers. Controllers with the same Env share its caches and
// Event limits.
type Env struct {
	Store Store
	Kinds *catalog.Catalog
	*meta.Naming
	Log *slog.Logger

	events *eventWriter
	mu     sync.Mutex // guards caches
	caches map[meta.GroupResource]observer
}

// NewEnv returns an Env whose controllers write to store.
func NewEnv(store Store, kinds *catalog.Catalog, logger *slog.Logger) *Env {
	e := &Env{Store: store, Kinds: kinds, Naming: kinds.Naming(), Log: logger, caches: map[meta.GroupResource]observer{}}
	e.events = newEventWriter(e.Core("Event").As(Manager), logger)
	return e
}

// Core returns a Client for a kind in the core group.
func (e *Env) Core(kind string) Client { return e.Client("", "v1", kind) }

// Client returns a Client for a kind. group is an API group of the platform naming profile, such as
// "coordination.platform.io", and is translated to the server's naming profile.
func (e *Env) Client(group, version, kind string) Client {
	return e.ClientOf(e.Kinds.ByGVK(meta.GroupVersionKind{Group: e.Translate(group), Version: version, Kind: kind}))
}

// ClientOf returns a Client for k, which is nil if the kind is not served.
func (e *Env) ClientOf(k *schema.Kind) Client { return Client{Kind: k, env: e} }
