package daemon

import (
	"context"

	"github.com/troupe-api/troupe/actors"
	"github.com/troupe-api/troupe/actors/controllers"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
)

// defining is the store as clients reach it: who changes a definition is answered when the
// change is in effect, so that the next request finds the kinds as they are defined.
type defining struct {
	*actors.Store
	definitions *controllers.Definitions
}

// Mutate implements http.Store.
func (s defining) Mutate(ctx context.Context, m request.Mutation) (request.Result, error) {
	result, err := s.Store.Mutate(ctx, m)
	if err == nil && !m.DryRun && result.Object != nil && s.definitions.Concerns(m.Kind) {
		s.definitions.Await(ctx, result.Object.Version)
	}
	return result, err
}

// DeleteCollection implements http.Store.
func (s defining) DeleteCollection(ctx context.Context, l request.List, m request.Mutation) (request.Listing, error) {
	listing, err := s.Store.DeleteCollection(ctx, l, m)
	if err != nil || m.DryRun || !s.definitions.Concerns(l.Kind) {
		return listing, err
	}
	newest := uint64(0)
	for _, o := range listing.Items {
		if now, err := s.Get(ctx, request.Get{Kind: l.Kind, Key: meta.Key{GroupResource: l.Kind.Storage, Name: o.Key.Name}}); err == nil {
			newest = max(newest, now.Version)
		}
	}
	s.definitions.Await(ctx, newest)
	return listing, nil
}
