package policyobjects

import (
	"context"
	"time"

	"github.com/troupe-api/troupe/actors"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
)

// A BarrierStore is the store as clients reach it. It answers a write of roles or bindings only when
// the authorizer has seen it, and one of a definition of kinds only when these kinds are served as
// it says. So a client that was answered finds its next request dealt with accordingly.
type BarrierStore struct {
	*actors.Store
	reader      *Reader
	definitions Definitions
	rbacGroup   string
}

// Definitions puts definitions of kinds into effect.
type Definitions interface {
	// Handles tells whether objects of a kind are definitions.
	Handles(k *schema.Kind) bool
	// Wait returns when a version of a definition is in effect, or ctx ends.
	Wait(ctx context.Context, version uint64)
}

// rbacGroup is that of roles and their bindings, in platform form.
const rbacGroup = "rbac.authorization.platform.io"

// maxBarrierWait bounds the wait for the authorizer. What was written is durable by then.
const maxBarrierWait = time.Second

// NewBarrierStore makes a BarrierStore of the store that policy reads through reader.
func NewBarrierStore(reader *Reader, definitions Definitions) BarrierStore {
	group := reader.kinds.storage(meta.GroupResource{Group: rbacGroup}).Group
	return BarrierStore{Store: reader.store, reader: reader, definitions: definitions, rbacGroup: group}
}

// Mutate implements http.Store.
func (s BarrierStore) Mutate(ctx context.Context, m request.Mutation) (request.Result, error) {
	result, err := s.Store.Mutate(ctx, m)
	if err == nil && result.Object != nil && !m.DryRun {
		s.waitObserved(ctx, m.Kind, result.Object.Version)
	}
	return result, err
}

// DeleteCollection implements http.Store.
func (s BarrierStore) DeleteCollection(ctx context.Context, l request.List, m request.Mutation) (request.ListResult, error) {
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
	case k.Storage.Group == s.rbacGroup:
		ctx, cancel := context.WithTimeout(ctx, maxBarrierWait)
		defer cancel()
		s.reader.observedRevision(k.Storage).Wait(ctx, version)
	}
}
