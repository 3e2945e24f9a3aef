package match

import (
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy"
)

var namespacesResource = meta.GroupResource{Resource: "namespaces"}

// Namespaces caches all namespaces. All plugins share one instance and list it in their
// Registration's Caches.
type Namespaces struct{ *policy.Cache[*policy.Object] }

// NewNamespaces returns empty Namespaces.
func NewNamespaces() *Namespaces {
	return &Namespaces{policy.NewCache(namespacesResource, func(o *policy.Object) *policy.Object { return o })}
}

// Get returns a namespace. The object is shared and must not be modified.
func (n *Namespaces) Get(name string) (*policy.Object, bool) { return n.Cache.Get("", name) }

// Labels returns a namespace's labels, or false if the namespace does not exist.
func (n *Namespaces) Labels(name string) (meta.Labels, bool) {
	o, ok := n.Get(name)
	if !ok {
		return nil, false
	}
	return o.Meta.Labels, true
}
