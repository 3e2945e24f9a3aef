package plugins

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy"
)

// A Class is what plugins know of a StorageClass or an IngressClass. Caches hold only this much of each
// class, not the object.
type Class struct {
	Default         bool   // an annotation makes it the default
	Created         string // its creationTimestamp, as text
	AllowsExpansion bool   // of volumes
}

// NewStorageClasses makes a cache of the StorageClasses. The beta annotation is still on classes that were
// made with old manifests. Two plugins read the classes, so the cache is made once and passed to both.
func NewStorageClasses(naming *meta.Naming) *policy.Cache[Class] {
	return newClasses("storage.platform.io", "storageclasses",
		naming.Translate("storageclass.platform.io/is-default-class"), naming.Translate("storageclass.beta.platform.io/is-default-class"))
}

// NewIngressClasses makes a cache of the IngressClasses.
func NewIngressClasses(naming *meta.Naming) *policy.Cache[Class] {
	return newClasses("networking.platform.io", "ingressclasses", naming.Translate("ingressclass.platform.io/is-default-class"))
}

// newClasses makes a cache of classes that are marked as default by any of some annotations.
func newClasses(group, resource string, defaultAnnotations ...string) *policy.Cache[Class] {
	return policy.NewCache(meta.GroupResource{Group: group, Resource: resource}, func(o *policy.Object) Class {
		return readClass(o.Tree, defaultAnnotations)
	})
}

// readClass reads the fields of both kinds: an IngressClass has no volumes to expand.
func readClass(t tree.Tree, defaultAnnotations []string) Class {
	annotations := t.Object("metadata", "annotations")
	return Class{
		Default:         slices.ContainsFunc(defaultAnnotations, func(name string) bool { return annotations.String(name) == "true" }),
		Created:         t.Object("metadata").String("creationTimestamp"),
		AllowsExpansion: t.Bool("allowVolumeExpansion"),
	}
}

// defaultClass is the name of the default: of several, the newest, and of those the first by name; "" if
// there is none. Several defaults are allowed, so that an administrator can add the new one before the old
// one is removed. Texts of times compare like the times.
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
