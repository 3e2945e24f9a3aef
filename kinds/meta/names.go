package meta

import (
	"cmp"
	"errors"
	"strings"
)

// A GroupVersionKind identifies the schema of an object. Group is empty for the core group.
type GroupVersionKind struct{ Group, Version, Kind string }

// ParseGVK returns the GroupVersionKind for the apiVersion and kind of an object, such as "apps/v1"
// and "Deployment".
func ParseGVK(apiVersion, kind string) GroupVersionKind {
	group, version, ok := strings.Cut(apiVersion, "/")
	if !ok {
		group, version = "", apiVersion
	}
	return GroupVersionKind{group, version, kind}
}

// APIVersion returns the value of the field apiVersion, such as "v1" or "apps/v1".
func (g GroupVersionKind) APIVersion() string {
	if g.Group == "" {
		return g.Version
	}
	return g.Group + "/" + g.Version
}

// A GroupKind identifies a kind regardless of its version.
type GroupKind struct{ Group, Kind string }

// String returns the kind as in "Pod" or "Deployment.apps".
func (g GroupKind) String() string {
	if g.Group == "" {
		return g.Kind
	}
	return g.Kind + "." + g.Group
}

// A GroupResource identifies a resource regardless of its version, as in error messages and storage
// keys.
type GroupResource struct{ Group, Resource string }

// String returns the resource as in "configmaps" or "deployments.apps".
func (g GroupResource) String() string {
	if g.Group == "" {
		return g.Resource
	}
	return g.Resource + "." + g.Group
}

// Compare compares by group, then by resource.
func (g GroupResource) Compare(other GroupResource) int {
	return cmp.Or(strings.Compare(g.Group, other.Group), strings.Compare(g.Resource, other.Resource))
}

// A Key identifies an object by storage resource, namespace and name. Cluster-scoped objects have
// no namespace. The Key of a stored Object may be retained, because it shares memory only with the
// storage key.
type Key struct {
	GroupResource
	Namespace, Name string
}

// String returns the storage key "group/resource/namespace/name", whose parts contain no slash.
// Lists are sorted by storage key bytes.
func (k Key) String() string {
	return k.Group + "/" + k.Resource + "/" + k.Namespace + "/" + k.Name
}

// Clone returns a copy that shares no memory with an object or request.
func (k Key) Clone() Key {
	k.Namespace, k.Name = strings.Clone(k.Namespace), strings.Clone(k.Name)
	return k
}

// ParseKey parses the result of String. The parts share the memory of s.
func ParseKey(s string) (Key, error) {
	group, rest, _ := strings.Cut(s, "/")
	resource, rest, _ := strings.Cut(rest, "/")
	namespace, name, ok := strings.Cut(rest, "/")
	if !ok || strings.Contains(name, "/") {
		return Key{}, errors.New("must be group/resource/namespace/name")
	}
	return Key{GroupResource{group, resource}, namespace, name}, nil
}
