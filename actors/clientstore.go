package actors

import (
	"context"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
)

// A ClientStore is the store as clients reach it. A client that was answered finds its next request dealt with
// accordingly, by whichever server:
//
//   - a write of what decides about other requests, such as roles, quotas or definitions of kinds, is answered when it is
//     in effect here;
//   - where other servers write to the same log, a read of the newest state, a refusal and a change that changes nothing
//     are answers about a state that contains all that was committed before the request (clientstorenewest.go).
type ClientStore struct {
	store *Store
	opts  ClientStoreOptions
}

// ClientStoreOptions are what decides about requests by the objects of the store, and who else writes them.
type ClientStoreOptions struct {
	Definitions Definitions
	Observers   Observers
	// Observed tells whether writers of a storage wait for the Observers.
	Observed func(storage meta.GroupResource) bool
	// Newest returns a version that contains everything that was committed before the call, by whichever server, once
	// it has arrived here. It is nil if nobody else writes.
	Newest func(ctx context.Context) (uint64, error)
}

// Definitions puts definitions of kinds into effect.
type Definitions interface {
	// Handles tells whether objects of a kind are definitions.
	Handles(k *schema.Kind) bool
	// Wait returns when a version of a definition is in effect, or ctx ends.
	Wait(ctx context.Context, version uint64)
	// CatchUp returns when all definitions that can be read are in effect, or ctx ends.
	CatchUp(ctx context.Context)
}

// Observers follow collections and decide by what they have seen of them.
type Observers interface {
	// Wait returns when all that follow a storage have seen a version of it, or ctx ends.
	Wait(ctx context.Context, storage meta.GroupResource, version uint64)
	// CatchUp returns when they have seen all that can be read, or ctx ends.
	CatchUp(ctx context.Context)
	// IsCaughtUp reports whether they have seen all that can be read.
	IsCaughtUp() bool
	// Changes counts what they have seen.
	Changes() uint64
}

// maxObserverWait bounds the wait for observers, which may have to look at many objects, such as all that a new
// quota counts. What was written is durable by then.
const maxObserverWait = 10 * time.Second

// NewClientStore returns a store as clients reach it.
func NewClientStore(store *Store, opts ClientStoreOptions) *ClientStore {
	return &ClientStore{store: store, opts: opts}
}

// Convert implements http.Store.
func (s *ClientStore) Convert(ctx context.Context, k *schema.Kind, objects []*meta.Object) ([]*meta.Object, error) {
	return s.store.Convert(ctx, k, objects)
}

// Count implements http.Store.
func (s *ClientStore) Count(k *schema.Kind, namespace string) int { return s.store.Count(k, namespace) }

// Version implements http.Store.
func (s *ClientStore) Version() uint64 { return s.store.Version() }

// Mutate implements http.Store.
func (s *ClientStore) Mutate(ctx context.Context, m request.Mutation) (request.Result, error) {
	result, err := s.mutateNewest(ctx, m)
	if err == nil && result.Object != nil && !m.DryRun {
		s.awaitEffect(ctx, m.Kind, result.Object.Version)
	}
	return result, err
}

// DeleteCollection implements http.Store.
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

// awaitEffect waits until a version of a kind is in effect.
func (s *ClientStore) awaitEffect(ctx context.Context, k *schema.Kind, version uint64) {
	switch {
	case s.opts.Definitions.Handles(k):
		s.opts.Definitions.Wait(ctx, version)
	case s.opts.Observed(k.Storage):
		ctx, cancel := context.WithTimeout(ctx, maxObserverWait)
		defer cancel()
		s.opts.Observers.Wait(ctx, k.Storage, version)
	}
}
