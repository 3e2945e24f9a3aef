package policy

import (
	"context"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Objects is how policy reads the cluster. Resources are named in platform form, the core group
// being "". Custom kinds are read like built-in ones, as long as they are defined. Many goroutines
// call it at a time.
type Objects interface {
	// Get returns an object as it is now; nil if there is none, or no such resource is served. It
	// looks up and parses the object, and waits for nothing.
	Get(r meta.GroupResource, namespace, name string) *Object
	// Inform calls onChange with every object of a resource and then, until ctx ends, with every
	// change, one at a time and in the order of their versions. It returns when everything
	// that there was has been seen, and goes on by itself. A resource that is not defined
	// has no objects; once it is defined, its objects are told, too.
	Inform(ctx context.Context, r meta.GroupResource, onChange func(Change)) error
}

// An Object is one object, in stored form. It is shared and must not be changed.
type Object struct {
	Key     meta.Key
	Version uint64 // its resource version; of one that is gone, that of its deletion
	Meta    meta.ObjectMeta
	Tree    tree.Tree
}

// A Change is what has become of an object. Deleted is set where it is no more; Object then is
// its last state, of which only the Key is certain.
type Change struct {
	*Object
	Deleted bool
}
