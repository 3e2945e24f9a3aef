package http

import (
	"context"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
)

// A Store keeps the served objects. Errors are *meta.Status.
type Store interface {
	Get(ctx context.Context, r request.Get) (*meta.Object, error)
	List(ctx context.Context, r request.List) (request.ListResult, error)
	// Watch starts a session that feeds sink. If it fails, sink is never called. ctx limits the
	// start only.
	Watch(ctx context.Context, r request.Watch, sink request.Sink) (request.Session, error)
	// Mutate returns after the change is durable and visible.
	Mutate(ctx context.Context, m request.Mutation) (request.Result, error)
	// NoOpApply returns the result of an apply by its digest, if Mutate has found that it changes
	// nothing of the current object.
	NoOpApply(m request.Mutation, digest func() meta.Digest) (result request.Result, ok bool)
	// DeleteCollection deletes the objects that the list selects, one by one, and returns them as
	// selected.
	DeleteCollection(ctx context.Context, l request.List, m request.Mutation) (request.ListResult, error)
	// Count returns the approximate number of objects of a kind in a namespace ("" for all).
	Count(k *schema.Kind, namespace string) int
	// Version returns the newest version that every read shows.
	Version() uint64
}
