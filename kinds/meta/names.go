package meta

import (
	"cmp"
	"errors"
	"strings"
)

// A GroupVersionKind names the schema of an object. The core group is "".
type GroupVersionKind struct{ Group, Version, Kind string }

// APIVersion is the text of apiVersion fields: "v1" or "apps/v1".
func (g GroupVersionKind) APIVersion() string {
	if g.Group == "" {
		return g.Version
	}
	return g.Group + "/" + g.Version
}

// A GroupKind names a kind in all its versions, as the faults of objects do.
type GroupKind struct{ Group, Kind string }

// String is "Pod" or "Deployment.apps".
func (g GroupKind) String() string {
	if g.Group == "" {
		return g.Kind
	}
	return g.Kind + "." + g.Group
}

// A GroupResource names a resource type as error messages and storage keys do.
type GroupResource struct{ Group, Resource string }

// String is "configmaps" or "deployments.apps".
func (g GroupResource) String() string {
	if g.Group == "" {
		return g.Resource
	}
	return g.Resource + "." + g.Group
}

// Compare orders by group, then by resource.
func (g GroupResource) Compare(other GroupResource) int {
	return cmp.Or(strings.Compare(g.Group, other.Group), strings.Compare(g.Resource, other.Resource))
}

// A Key identifies one object: its storage resource, its namespace ("" for cluster-scoped objects) and its
// name. The Key of a stored Object owns its bytes and may be kept: ParseKey has made it of the text under
// which the object is stored.
type Key struct {
	GroupResource
	Namespace, Name string
}

// String is the text "group/resource/namespace/name" under which the object is stored; no part holds a
// slash. Its byte order is the order of lists.
func (k Key) String() string {
	return k.Group + "/" + k.Resource + "/" + k.Namespace + "/" + k.Name
}

// Clone returns a copy that owns its bytes, of a key that was made of parts of an object or of a request.
func (k Key) Clone() Key {
	k.Namespace, k.Name = strings.Clone(k.Namespace), strings.Clone(k.Name)
	return k
}

// ParseKey reads what String has written. The parts share the memory of s.
func ParseKey(s string) (Key, error) {
	group, rest, _ := strings.Cut(s, "/")
	resource, rest, _ := strings.Cut(rest, "/")
	namespace, name, ok := strings.Cut(rest, "/")
	if !ok || strings.Contains(name, "/") {
		return Key{}, errors.New("must be group/resource/namespace/name")
	}
	return Key{GroupResource{group, resource}, namespace, name}, nil
}
