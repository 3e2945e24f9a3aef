package policy

import (
	"context"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Objects gives policy access to the cluster's objects. Resource names are in the platform naming
// profile, with "" for the core group. Custom resources are available while their CRD exists.
// Methods are safe for concurrent use.
type Objects interface {
	// Get returns the current object, or nil if the object or its resource does not exist. It
	// parses the object and does not block.
	Get(r meta.GroupResource, namespace, name string) *Object
	// Inform calls onChange for all existing objects, and then for all changes until ctx ends.
	// Calls are serialized, in version order. Inform returns once it has delivered the existing
	// objects, and continues in the background. A custom resource has no objects until its CRD is
	// created.
	Inform(ctx context.Context, r meta.GroupResource, onChange func(Change)) error
}

// An Object is one object in stored form. It is shared and must not be modified.
type Object struct {
	Key     meta.Key
	Version uint64 // resourceVersion of the object or of its deletion
	Meta    meta.ObjectMeta
	Tree    tree.Tree
}

// A Change is the new state of an object. If Deleted is set, Object is the last known state, and
// only the Key is guaranteed to be set.
type Change struct {
	*Object
	Deleted bool
}
