package daemon

import (
	"context"
	"sync"
	"time"

	"github.com/troupe-api/troupe/actors"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
)

// A settledStore answers a change of roles and their bindings only when the authorizer has seen
// it: whoever was answered finds the next request decided on it.
type settledStore struct {
	*actors.Store
	objects *objects
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
	s.settle(ctx, l.Kind, listing.Version)
	return listing, err
}

// settle waits until the authorizer has seen a version of a kind.
func (s settledStore) settle(ctx context.Context, k *schema.Kind, version uint64) {
	if k.Storage.Group != s.objects.naming.Name(roleGroup) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, mostSettling)
	defer cancel()
	s.objects.followed(k.Storage).await(ctx, version)
}

// A progress is how far somebody has come who follows the changes of a kind.
type progress struct {
	mu      sync.Mutex // guards the rest
	version uint64
	moved   chan struct{} // closed when version rises; nil while nobody waits
}

// reach says that everything up to a version has been seen.
func (p *progress) reach(version uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.version = max(p.version, version)
	if p.moved != nil {
		close(p.moved)
		p.moved = nil
	}
}

// await waits until everything up to a version has been seen, or ctx ends.
func (p *progress) await(ctx context.Context, version uint64) {
	for ctx.Err() == nil {
		p.mu.Lock()
		if p.version >= version {
			p.mu.Unlock()
			return
		}
		if p.moved == nil {
			p.moved = make(chan struct{})
		}
		moved := p.moved
		p.mu.Unlock()
		select {
		case <-moved:
		case <-ctx.Done():
		}
	}
}

// followed is the progress of who follows a kind.
func (o *objects) followed(storage meta.GroupResource) *progress {
	o.mu.Lock()
	defer o.mu.Unlock()
	p := o.progress[storage]
	if p == nil {
		p = &progress{}
		o.progress[storage] = p
	}
	return p
}
