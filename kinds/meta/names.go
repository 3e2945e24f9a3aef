package meta

// A GroupVersionKind names the schema of an object. The core group is "".
type GroupVersionKind struct{ Group, Version, Kind string }

// APIVersion is the form of apiVersion fields: "v1" or "apps/v1".
func (g GroupVersionKind) APIVersion() string {
	if g.Group == "" {
		return g.Version
	}
	return g.Group + "/" + g.Version
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

// A Key is the place of one object: its storage resource, its namespace ("" for
// cluster-scoped objects) and its name.
type Key struct {
	GroupResource
	Namespace, Name string
}

// String is the storage form "group/resource/namespace/name"; no part holds a slash.
// Its byte order is the order of lists.
func (k Key) String() string {
	return k.Group + "/" + k.Resource + "/" + k.Namespace + "/" + k.Name
}
