package actors

import (
	"context"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
)

// ClientStore is the store for client requests. It guarantees read-your-writes consistency for each
// client, even across servers:
//
//   - A write to an object that policy or discovery depends on, such as a role, quota or
//     CustomResourceDefinition, returns after this server has applied it.
//   - If other servers share the log, a response includes everything committed before the
//     request. This applies to most-recent reads, and to writes that are rejected or change
//     nothing (clientstorenewest.go).
type ClientStore struct {
	store *Store
	opts  ClientStoreOptions
}

// ClientStoreOptions are the dependencies of a ClientStore.
type ClientStoreOptions struct {
	Definitions Definitions
	Observers   Observers
	// IsObserved reports whether a write to the storage kind must wait for the Observers.
	IsObserved func(storage meta.GroupResource) bool
	// Newest returns a version that includes every commit that any server made before the call. It
	// is nil if no other server shares the log.
	Newest func(ctx context.Context) (uint64, error)
}

// Definitions tracks the served custom resources.
type Definitions interface {
	// Handles reports whether k is the kind CustomResourceDefinition.
	Handles(k *schema.Kind) bool
	// Wait blocks until the served custom resources reflect version, or until ctx is done.
	Wait(ctx context.Context, version uint64)
	// CatchUp blocks until the served custom resources reflect every change visible to reads, or
	// until ctx is done.
	CatchUp(ctx context.Context)
}

// Observers are the caches of admission, authentication and authorization, which watch collections.
type Observers interface {
	// Wait blocks until all caches of the storage kind have observed the change at version, or
	// until ctx is done.
	Wait(ctx context.Context, storage meta.GroupResource, version uint64)
	// CatchUp blocks until all caches include every change visible to reads, or until ctx is done.
	CatchUp(ctx context.Context)
	// IsCaughtUp reports whether all caches include every change visible to reads.
	IsCaughtUp() bool
	// Changes returns the number of changes that caches have received so far.
	Changes() uint64
}

// maxObserverWait limits how long a durable write waits for observers. An observer can be slow: a
// new quota, for example, requires counting all objects in its namespace.
const maxObserverWait = 10 * time.Second

// NewClientStore returns a ClientStore backed by store.
func NewClientStore(store *Store, opts ClientStoreOptions) *ClientStore {
	return &ClientStore{store: store, opts: opts}
}

func (s *ClientStore) Count(k *schema.Kind, namespace string) int { return s.store.Count(k, namespace) }

func (s *ClientStore) Version() uint64 { return s.store.Version() }

func (s *ClientStore) Mutate(ctx context.Context, m request.Mutation) (result request.Result, err error) {
	if s.opts.Newest == nil {
		result, err = s.store.Mutate(ctx, m)
	} else {
		result, err = s.mutateNewest(ctx, m)
	}
	if err == nil && result.Object != nil && !m.DryRun {
		s.awaitEffect(ctx, m.Kind, result.Object.Version)
	}
	return result, err
}

func (s *ClientStore) DeleteCollection(ctx context.Context, l request.List, m request.Mutation) (request.ListResult, error) {
	l, err := s.confirmList(ctx, l)
	if err != nil {
		return request.ListResult{}, err
	}
	if s.opts.Newest != nil { // each delete may be refused by an observer
		if err := s.awaitVersion(ctx, l.Version); err != nil {
			return request.ListResult{}, err
		}
	}
	listing, err := s.store.DeleteCollection(ctx, l, m)
	if !m.DryRun { // after an error, too: some objects may have been deleted
		s.awaitEffect(ctx, l.Kind, listing.Version)
	}
	return listing, err
}

func (s *ClientStore) awaitEffect(ctx context.Context, k *schema.Kind, version uint64) {
	switch {
	case s.opts.Definitions.Handles(k):
		s.opts.Definitions.Wait(ctx, version)
	case s.opts.IsObserved(k.Storage):
		ctx, cancel := context.WithTimeout(ctx, maxObserverWait)
		defer cancel()
		s.opts.Observers.Wait(ctx, k.Storage, version)
	}
}
