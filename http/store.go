package http

import (
	"context"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
)

// A Store keeps the objects that the front serves. Errors are *meta.Status.
type Store interface {
	Get(ctx context.Context, r request.Get) (*meta.Object, error)
	List(ctx context.Context, r request.List) (request.ListResult, error)
	// Watch starts a session that feeds sink. If it fails, sink is never called. ctx bounds the start, not
	// the session.
	Watch(ctx context.Context, r request.Watch, sink request.Sink) (request.Session, error)
	// Mutate answers after the change is durable and visible.
	Mutate(ctx context.Context, m request.Mutation) (request.Result, error)
	// NoOpApply answers an apply by its digest, if it is known to change nothing of the object as
	// it is; Mutate makes it known.
	NoOpApply(m request.Mutation, digest func() meta.Digest) (result request.Result, ok bool)
	// DeleteCollection deletes what the list selects, one by one, and returns the
	// objects as they were chosen.
	DeleteCollection(ctx context.Context, l request.List, m request.Mutation) (request.ListResult, error)
	// Count is about how many objects of a kind there are in a namespace ("" for all).
	Count(k *schema.Kind, namespace string) int
	// Version is the newest version that every read shows.
	Version() uint64
}
