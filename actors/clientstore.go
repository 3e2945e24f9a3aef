package actors

import (
	"context"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
)

// A ClientStore is the store that client requests use. It guarantees that a client's next request,
// to any server, sees the effect of its previous one:
//
//   - A write to objects that policy or discovery depend on, such as roles, quotas or
//     CustomResourceDefinitions, returns once this server applies it.
//   - If other servers share the log, reads of the most recent state, rejections and no-op writes
//     reflect everything committed before the request (clientstorenewest.go).
type ClientStore struct {
	store *Store
	opts  ClientStoreOptions
}

// ClientStoreOptions are the dependencies of a ClientStore.
type ClientStoreOptions struct {
	Definitions Definitions
	Observers   Observers
	// IsObserved reports whether a write to the storage waits for the Observers.
	IsObserved func(storage meta.GroupResource) bool
	// Newest returns a version that includes every commit of all servers before the call. It is nil
	// if no other server shares the log.
	Newest func(ctx context.Context) (uint64, error)
}

// Definitions serves the kinds of CustomResourceDefinitions.
type Definitions interface {
	// Handles reports whether k is the kind CustomResourceDefinition.
	Handles(k *schema.Kind) bool
	// Wait returns when kinds are served as of a version, or ctx ends.
	Wait(ctx context.Context, version uint64)
	// CatchUp returns when kinds are served as of the version that reads return, or ctx ends.
	CatchUp(ctx context.Context)
}

// Observers are the caches of policy, which watch collections.
type Observers interface {
	// Wait returns when all caches of a storage include a version, or ctx ends.
	Wait(ctx context.Context, storage meta.GroupResource, version uint64)
	// CatchUp returns when all caches include the version that reads return, or ctx ends.
	CatchUp(ctx context.Context)
	// IsCaughtUp reports whether all caches include the version that reads return.
	IsCaughtUp() bool
	// Changes returns the number of changes delivered to caches so far.
	Changes() uint64
}

// maxObserverWait limits how long a write waits for observers. A new quota, for example, counts all
// objects of its namespace. The write is durable by then.
const maxObserverWait = 10 * time.Second

// NewClientStore returns a ClientStore over store.
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
