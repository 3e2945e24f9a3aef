package http

import (
	"context"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
)

// A Store holds the served objects. Every error is a *meta.Status.
type Store interface {
	Get(ctx context.Context, r request.Get) (*meta.Object, error)
	List(ctx context.Context, r request.List) (request.ListResult, error)
	// History returns the retained revisions of an object, newest first.
	History(ctx context.Context, r request.History) (request.HistoryResult, error)
	// Watch starts a session that sends events to sink. If it fails, it never calls sink. ctx
	// limits only the start of the session.
	Watch(ctx context.Context, r request.Watch, sink request.Sink) (request.Session, error)
	// Mutate returns after the change is durable and visible.
	Mutate(ctx context.Context, m request.Mutation) (request.Result, error)
	// NoOpApply returns the result of a server-side apply that does not change the current object.
	// ok is false unless an earlier Mutate with the same digest was a no-op.
	NoOpApply(m request.Mutation, digest func() meta.Digest) (result request.Result, ok bool)
	// DeleteCollection deletes the objects that l selects, one by one. It returns their last state.
	DeleteCollection(ctx context.Context, l request.List, m request.Mutation) (request.ListResult, error)
	// Count returns the approximate number of objects of a kind in a namespace. "" means all
	// namespaces.
	Count(k *schema.Kind, namespace string) int
	// Version returns the newest resourceVersion that is visible to all reads.
	Version() uint64
}
