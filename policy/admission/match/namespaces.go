package match

import (
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy"
)

var namespacesResource = meta.GroupResource{Resource: "namespaces"}

// Namespaces are the namespaces of the cluster. It belongs into the Caches of the Registration of each plugin
// that uses it; one serves all of them.
type Namespaces struct{ *policy.Cache[*policy.Object] }

// NewNamespaces makes Namespaces that know of none yet.
func NewNamespaces() *Namespaces {
	return &Namespaces{policy.NewCache(namespacesResource, func(o *policy.Object) *policy.Object { return o })}
}

// Get is a namespace, which is shared and must not be changed.
func (n *Namespaces) Get(name string) (*policy.Object, bool) { return n.Cache.Get("", name) }

// Labels are the labels of a namespace.
func (n *Namespaces) Labels(name string) (meta.Labels, bool) {
	o, ok := n.Get(name)
	if !ok {
		return nil, false
	}
	return o.Meta.Labels, true
}
