package convert

import (
	"context"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// A Converter converts stored objects to a kind. It may fail or block until its context is done.
type Converter interface {
	// Convert returns the objects converted to kind k, with the same keys, versions and order. It
	// does not change the objects, but may return one itself if it needs no conversion. An error
	// applies to the whole call and may wrap a *meta.Status for the client.
	Convert(ctx context.Context, k *schema.Kind, objects []*meta.Object) ([]*meta.Object, error)
}

// A Form describes the objects of a response: their kind, and the Converter from the stored form. A
// nil Converter means that stored objects need no conversion.
type Form struct {
	Kind      *schema.Kind
	Converter Converter
}

// Convert converts stored objects to the form. It may return the given slice.
func (f Form) Convert(ctx context.Context, objects []*meta.Object) ([]*meta.Object, error) {
	if f.Converter == nil {
		return objects, nil
	}
	return f.Converter.Convert(ctx, f.Kind, objects)
}

// Converts reports whether a stored object may need conversion.
func (f Form) Converts(o *meta.Object) bool { return !HasForm(f.Kind, o) }
