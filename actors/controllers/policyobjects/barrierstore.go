package policyobjects

import (
	"context"
	"time"

	"github.com/troupe-api/troupe/actors"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
)

// A BarrierStore is the store as clients reach it. It answers a write of what policy decides by, such as
// roles, bindings or webhook configurations, only when policy has seen it, and one of a definition of kinds only
// when these kinds are served as it says. So a client that was answered finds its next request dealt with
// accordingly.
type BarrierStore struct {
	*actors.Store
	reader      *Reader
	definitions Definitions
	followed    map[meta.GroupResource]bool // by storage
	// following tells of more storages, which come and go; nil for none.
	following func(storage meta.GroupResource) bool
	current   Current // nil: nobody else writes
}

// Definitions puts definitions of kinds into effect.
type Definitions interface {
	// Handles tells whether objects of a kind are definitions.
	Handles(k *schema.Kind) bool
	// Wait returns when a version of a definition is in effect, or ctx ends.
	Wait(ctx context.Context, version uint64)
}

// maxBarrierWait bounds the wait for policy, which may have to look at many objects, such as all that a new
// quota counts. What was written is durable by then.
const maxBarrierWait = 10 * time.Second

// NewBarrierStore makes a BarrierStore of the store that policy reads through reader. followed are the
// resources, in platform form, whose writes wait for policy.
func NewBarrierStore(reader *Reader, definitions Definitions, followed []meta.GroupResource) BarrierStore {
	s := BarrierStore{Store: reader.store, reader: reader, definitions: definitions, followed: map[meta.GroupResource]bool{}}
	for _, resource := range followed {
		s.followed[reader.kinds.storage(resource)] = true
	}
	return s
}

// Following is the store whose writers also wait for policy where following says so of a storage.
func (s BarrierStore) Following(following func(storage meta.GroupResource) bool) BarrierStore {
	s.following = following
	return s
}

// Mutate implements http.Store.
func (s BarrierStore) Mutate(ctx context.Context, m request.Mutation) (request.Result, error) {
	result, err := s.mutateCurrent(ctx, m)
	if err == nil && result.Object != nil && !m.DryRun {
		s.waitObserved(ctx, m.Kind, result.Object.Version)
	}
	return result, err
}

// DeleteCollection implements http.Store.
func (s BarrierStore) DeleteCollection(ctx context.Context, l request.List, m request.Mutation) (request.ListResult, error) {
	l, err := s.confirmList(ctx, l)
	if err != nil {
		return request.ListResult{}, err
	}
	if s.current != nil { // each delete may be refused by policy
		if err := s.awaitPolicy(ctx, l.Version); err != nil {
			return request.ListResult{}, err
		}
	}
	listing, err := s.Store.DeleteCollection(ctx, l, m)
	if !m.DryRun { // after an error, too: some objects may have been deleted
		s.waitObserved(ctx, l.Kind, listing.Version)
	}
	return listing, err
}

// waitObserved waits until a version of a kind is in effect.
func (s BarrierStore) waitObserved(ctx context.Context, k *schema.Kind, version uint64) {
	switch {
	case s.definitions.Handles(k):
		s.definitions.Wait(ctx, version)
	case s.followed[k.Storage] || s.following != nil && s.following(k.Storage):
		ctx, cancel := context.WithTimeout(ctx, maxBarrierWait)
		defer cancel()
		s.reader.waitObserved(ctx, k.Storage, version)
	}
}
