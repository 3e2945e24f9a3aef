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

// A settledStore is the store as clients reach it. It answers a change of roles and their
// bindings only when the authorizer has seen it, and one of a definition of kinds when they are
// served as it says: whoever was answered finds the next request dealt with accordingly.
type settledStore struct {
	*actors.Store
	objects     *objects
	definitions *controllers.Definitions
}

// roleGroup is that of roles and their bindings, in platform form.
const roleGroup = "rbac.authorization.platform.io"

// mostSettling bounds the wait for the authorizer. What was changed is stored by then.
const mostSettling = time.Second

// Mutate implements http.Store.
func (s settledStore) Mutate(ctx context.Context, m request.Mutation) (request.Result, error) {
	result, err := s.Store.Mutate(ctx, m)
	if err == nil && result.Object != nil && !m.DryRun {
		s.settle(ctx, m.Kind, result.Object.Version)
	}
	return result, err
}

// DeleteCollection implements http.Store.
func (s settledStore) DeleteCollection(ctx context.Context, l request.List, m request.Mutation) (request.Listing, error) {
	listing, err := s.Store.DeleteCollection(ctx, l, m)
	if !m.DryRun {
		s.settle(ctx, l.Kind, listing.Version)
	}
	return listing, err
}

// settle waits until a version of a kind is in effect.
func (s settledStore) settle(ctx context.Context, k *schema.Kind, version uint64) {
	switch {
	case s.definitions.Concerns(k):
		s.definitions.Await(ctx, version)
	case k.Storage.Group == s.objects.naming.Name(roleGroup):
		ctx, cancel := context.WithTimeout(ctx, mostSettling)
		defer cancel()
		s.objects.followed(k.Storage).Await(ctx, version)
	}
}

// followed is the progress of who follows a kind.
func (o *objects) followed(storage meta.GroupResource) *controllers.Progress {
	o.mu.Lock()
	defer o.mu.Unlock()
	p := o.progress[storage]
	if p == nil {
		p = &controllers.Progress{}
		o.progress[storage] = p
	}
	return p
}
