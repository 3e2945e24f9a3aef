package daemon

import (
	"context"
	"time"

	"github.com/troupe-api/troupe/actors"
	"github.com/troupe-api/troupe/actors/controllers"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
)

// A barrierStore is the store as clients reach it. It answers a change of roles and their
// bindings only when the authorizer has seen it, and one of a definition of kinds when they are
// served as it says: whoever was answered finds the next request dealt with accordingly.
type barrierStore struct {
	*actors.Store
	objects     *objectReader
	definitions *controllers.Definitions
}

// rbacGroup is that of roles and their bindings, in platform form.
const rbacGroup = "rbac.authorization.platform.io"

// maxBarrierWait bounds the wait for the authorizer. What was changed is stored by then.
const maxBarrierWait = time.Second

// Mutate implements http.Store.
func (s barrierStore) Mutate(ctx context.Context, m request.Mutation) (request.Result, error) {
	result, err := s.Store.Mutate(ctx, m)
	if err == nil && result.Object != nil && !m.DryRun {
		s.waitObserved(ctx, m.Kind, result.Object.Version)
	}
	return result, err
}

// DeleteCollection implements http.Store.
func (s barrierStore) DeleteCollection(ctx context.Context, l request.List, m request.Mutation) (request.ListResult, error) {
	listing, err := s.Store.DeleteCollection(ctx, l, m)
	if !m.DryRun {
		s.waitObserved(ctx, l.Kind, listing.Version)
	}
	return listing, err
}

// waitObserved waits until a version of a kind is in effect.
func (s barrierStore) waitObserved(ctx context.Context, k *schema.Kind, version uint64) {
	switch {
	case s.definitions.Handles(k):
		s.definitions.Wait(ctx, version)
	case k.Storage.Group == s.objects.naming.Translate(rbacGroup):
		ctx, cancel := context.WithTimeout(ctx, maxBarrierWait)
		defer cancel()
		s.objects.observedRevision(k.Storage).Wait(ctx, version)
	}
}

// observedRevision is the progress of who follows a kind.
func (o *objectReader) observedRevision(storage meta.GroupResource) *controllers.ObservedRevision {
	o.mu.Lock()
	defer o.mu.Unlock()
	p := o.observed[storage]
	if p == nil {
		p = &controllers.ObservedRevision{}
		o.observed[storage] = p
	}
	return p
}
