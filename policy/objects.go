package policy

import (
	"context"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Objects is what policy reads of the cluster. Resources are named in platform form, the
// core group being "". It is called by many goroutines at a time.
type Objects interface {
	// Get is an object as it is now; nil if there is none, or no such resource is served. It
	// takes about as long as to look up and parse one object, and waits for nobody.
	Get(r meta.GroupResource, namespace, name string) *Object
	// Inform calls see with every object of a resource and then, until ctx ends, with every
	// change, one at a time and in the order of their versions. It returns when everything
	// that there was has been seen, and goes on by itself. A resource that is not served
	// has no objects.
	Inform(ctx context.Context, r meta.GroupResource, see func(Change)) error
}

// An Object is one object, in stored form. It is shared and must not be changed.
type Object struct {
	Key  meta.Key
	Meta meta.ObjectMeta
	Tree tree.Tree
}

// A Change is what has become of an object. Gone is set where it is no more; Object then is
// its last state, of which only the Key is certain.
type Change struct {
	*Object
	Deleted bool
}
