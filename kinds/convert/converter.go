package convert

import (
	"context"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// A Converter converts the objects of a kind that this package cannot convert by itself, because
// somebody else has to be asked. It may wait, until its context ends, and it may fail.
type Converter interface {
	// Convert answers what k shows of stored objects: as many, in the same order, with the same keys
	// and versions. The objects stay as they are; those that have the form of k already may be
	// answered themselves. An error is one for all of them; a *meta.Status in it is what clients get.
	Convert(ctx context.Context, k *schema.Kind, objects []*meta.Object) ([]*meta.Object, error)
}
