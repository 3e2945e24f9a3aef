package convert

import (
	"context"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// A Converter converts stored objects to a kind. It may block until its context ends, and it may
// fail.
type Converter interface {
	// Convert returns the objects as k shows them, with the same keys and versions, in the same
	// order. Inputs are not changed; those already in the form of k may be returned themselves. An
	// error concerns the whole call and may contain a *meta.Status for the client.
	Convert(ctx context.Context, k *schema.Kind, objects []*meta.Object) ([]*meta.Object, error)
}

// A Form is the form of the objects in a response: that of a kind, with a Converter of stored
// objects. Without Converter, stored objects already have it.
type Form struct {
	Kind      *schema.Kind
	Converter Converter
}

// Convert converts stored objects. If all have the form already, it returns the slice itself.
func (f Form) Convert(ctx context.Context, objects []*meta.Object) ([]*meta.Object, error) {
	if f.Converter == nil {
		return objects, nil
	}
	return f.Converter.Convert(ctx, f.Kind, objects)
}

// Converts reports whether a stored object may lack the form.
func (f Form) Converts(o *meta.Object) bool { return !HasForm(f.Kind, o) }
