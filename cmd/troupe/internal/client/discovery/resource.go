package discovery

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
)

// A Resource is one version of an API resource.
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

// APIVersion returns the apiVersion of the resource's objects.
func (r *Resource) APIVersion() string {
	return meta.GroupVersionKind{Group: r.Group, Version: r.Version}.APIVersion()
}

// FullName returns the plural and group, such as "pods" or "deployments.apps".
func (r *Resource) FullName() string {
	return meta.GroupResource{Group: r.Group, Resource: r.Name}.String()
}

// TypeName returns the type that precedes the slash in output, such as "pod" or "deployment.apps".
func (r *Resource) TypeName() string {
	name := cmp.Or(r.Singular, strings.ToLower(r.Kind))
	return meta.GroupResource{Group: r.Group, Resource: name}.String()
}

// Has reports whether the resource supports a verb.
func (r *Resource) Has(verb string) bool { return slices.Contains(r.Verbs, verb) }

// Path returns the path of an object, or of the collection if name is empty. An empty namespace
// selects all namespaces.
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
