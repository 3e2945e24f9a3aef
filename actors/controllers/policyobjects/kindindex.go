package policyobjects

import (
	"sync/atomic"

	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// A kindIndex finds the kinds of a catalog by the resource that their objects are stored under. It
// is made anew when definitions have changed the catalog, so that custom kinds are found as long
// as they are defined.
type kindIndex struct {
	catalog *catalog.Catalog
	current atomic.Pointer[indexedKinds]
}

// indexedKinds is the index of one generation of the catalog, or of a later one.
type indexedKinds struct {
	generation uint64
	byStorage  map[meta.GroupResource]*schema.Kind
}

// storage is where objects of a resource in platform form are stored.
func (x *kindIndex) storage(resource meta.GroupResource) meta.GroupResource {
	return meta.GroupResource{Group: x.catalog.Naming().Translate(resource.Group), Resource: resource.Resource}
}

// kind is that of a resource in platform form; nil if it is not served.
func (x *kindIndex) kind(resource meta.GroupResource) *schema.Kind {
	return x.load().byStorage[x.storage(resource)]
}

// load is the index of the catalog as it is now. Several goroutines may make it at the same time,
// with the same result.
func (x *kindIndex) load() *indexedKinds {
	generation := x.catalog.Generation() // before the kinds, which may then be newer but not older
	if now := x.current.Load(); now != nil && now.generation == generation {
		return now
	}
	now := &indexedKinds{generation: generation, byStorage: map[meta.GroupResource]*schema.Kind{}}
	for _, k := range x.catalog.StorageKinds() {
		now.byStorage[k.Storage] = k
	}
	x.current.Store(now)
	return now
}

// kindSource is the kind of one resource, for an informer.
type kindSource struct {
	index    *kindIndex
	resource meta.GroupResource // in platform form
}

// Changed implements reconcile.KindSource.
func (s kindSource) Changed() <-chan struct{} { return s.index.catalog.Changed() }

// Kind implements reconcile.KindSource.
func (s kindSource) Kind() *schema.Kind { return s.index.kind(s.resource) }
