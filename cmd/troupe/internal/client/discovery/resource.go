package discovery

import (
	"net/url"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
)

// A Resource is a type of objects that a server serves in one version of its group.
type Resource struct {
	Group, Version string
	Name           string // plural, as in paths
	Singular       string
	Kind           string
	ShortNames     []string
	Categories     []string
	Verbs          []string
	Namespaced     bool
	Subresources   []string
}

// APIVersion is group and version as objects bear them.
func (r *Resource) APIVersion() string {
	return meta.GroupVersionKind{Group: r.Group, Version: r.Version}.APIVersion()
}

// FullName is the name with its group: "pods" or "deployments.apps".
func (r *Resource) FullName() string {
	return meta.GroupResource{Group: r.Group, Resource: r.Name}.String()
}

// TypeName is what comes before the slash where objects are named to people: "pod" or "deployment.apps".
func (r *Resource) TypeName() string {
	name := r.Singular
	if name == "" {
		name = strings.ToLower(r.Kind)
	}
	return meta.GroupResource{Group: r.Group, Resource: name}.String()
}

// Has tells whether the resource has a verb.
func (r *Resource) Has(verb string) bool { return slices.Contains(r.Verbs, verb) }

// Path is the path of the collection in a namespace; "" is all of them. With a name it is that of the object.
func (r *Resource) Path(namespace, name string) string {
	b := "/api/" + r.Version
	if r.Group != "" {
		b = "/apis/" + r.Group + "/" + r.Version
	}
	if r.Namespaced && namespace != "" {
		b += "/namespaces/" + url.PathEscape(namespace)
	}
	b += "/" + r.Name
	if name != "" {
		b += "/" + url.PathEscape(name)
	}
	return b
}
