package plugins

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy"
)

// A Class holds the fields of a StorageClass or IngressClass that plugins read.
type Class struct {
	Default         bool   // marked as default by an annotation
	Created         string // creationTimestamp
	AllowsExpansion bool   // of volumes; false for an IngressClass
}

// NewStorageClasses returns a cache of StorageClasses, shared by two plugins. It also recognizes
// the old beta annotation for default classes.
func NewStorageClasses(naming *meta.Naming) *policy.Cache[Class] {
	return newClasses("storage.platform.io", "storageclasses",
		naming.Translate("storageclass.platform.io/is-default-class"), naming.Translate("storageclass.beta.platform.io/is-default-class"))
}

// NewIngressClasses returns a cache of IngressClasses.
func NewIngressClasses(naming *meta.Naming) *policy.Cache[Class] {
	return newClasses("networking.platform.io", "ingressclasses", naming.Translate("ingressclass.platform.io/is-default-class"))
}

func newClasses(group, resource string, defaultAnnotations ...string) *policy.Cache[Class] {
	return policy.NewCache(meta.GroupResource{Group: group, Resource: resource}, func(o *policy.Object) Class {
		return readClass(o.Tree, defaultAnnotations)
	})
}

func readClass(t tree.Tree, defaultAnnotations []string) Class {
	annotations := t.Annotations()
	return Class{
		Default:         slices.ContainsFunc(defaultAnnotations, func(name string) bool { return annotations.String(name) == "true" }),
		Created:         t.Object("metadata").String("creationTimestamp"),
		AllowsExpansion: t.Bool("allowVolumeExpansion"),
	}
}

// defaultClass returns the newest default class, or "". Several defaults may exist while an
// administrator replaces one. Classes of the same age are ordered by name. RFC 3339 timestamps can
// be compared as strings.
func defaultClass(classes *policy.Cache[Class]) (name string) {
	created := ""
	classes.Each("", func(candidate string, c Class) bool {
		if c.Default && (name == "" || c.Created > created) {
			name, created = candidate, c.Created
		}
		return true
	})
	return name
}
