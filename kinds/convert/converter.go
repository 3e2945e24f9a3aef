package convert

import (
	"context"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// A Converter converts stored objects to a kind. It may wait, until its context ends, and it may fail.
type Converter interface {
	// Convert answers what k shows of stored objects: as many, in the same order, with the same keys
	// and versions. The objects stay as they are; those that have the form of k already may be
	// answered themselves. An error is one for all of them; a *meta.Status in it is what clients get.
	Convert(ctx context.Context, k *schema.Kind, objects []*meta.Object) ([]*meta.Object, error)
}

// A Form is the form in which a request gets objects: that of a kind, with the Converter of stored objects. Without
// Converter, stored objects have that form already.
type Form struct {
	Kind      *schema.Kind
	Converter Converter
}

// Convert converts stored objects. It returns the slice itself if all have the form already.
func (f Form) Convert(ctx context.Context, objects []*meta.Object) ([]*meta.Object, error) {
	if f.Converter == nil {
		return objects, nil
	}
	return f.Converter.Convert(ctx, f.Kind, objects)
}

// Converts reports whether a stored object may lack the form.
func (f Form) Converts(o *meta.Object) bool { return !HasForm(f.Kind, o) }
