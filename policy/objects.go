package policy

import (
	"context"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Objects reads the cluster for policy. Resource names are in platform form; the core group is "".
// Custom resources work while their CRD exists. It is safe for concurrent use.
type Objects interface {
	// Get returns the current object, or nil if it or its resource does not exist. It parses the
	// object and does not block.
	Get(r meta.GroupResource, namespace, name string) *Object
	// Inform calls onChange for every existing object and then for every change until ctx ends,
	// serially in the order of versions. It returns when all existing objects have been delivered,
	// and continues in the background. A resource without CRD has no objects until it is defined.
	Inform(ctx context.Context, r meta.GroupResource, onChange func(Change)) error
}

// An Object is one object in stored form. It is shared and must not be changed.
type Object struct {
	Key     meta.Key
	Version uint64 // resourceVersion, or that of the deletion
	Meta    meta.ObjectMeta
	Tree    tree.Tree
}

// A Change is a new state of an object. If Deleted is set, Object is its last state, of which only
// the Key is certain.
type Change struct {
	*Object
	Deleted bool
}
