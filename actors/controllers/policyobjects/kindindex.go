package policyobjects

import (
	"sync/atomic"

	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// A kindIndex finds the kinds in a catalog by storage resource. It is rebuilt after the catalog has
// changed.
type kindIndex struct {
	catalog *catalog.Catalog
	current atomic.Pointer[indexedKinds]
}

// indexedKinds is the index of one generation of the catalog. If the catalog changes while the
// index is built, the kinds may be newer than generation, but never older.
type indexedKinds struct {
	generation uint64
	byStorage  map[meta.GroupResource]*schema.Kind
}

func (x *kindIndex) storage(resource meta.GroupResource) meta.GroupResource {
	return meta.GroupResource{Group: x.catalog.Naming().Translate(resource.Group), Resource: resource.Resource}
}

func (x *kindIndex) kind(resource meta.GroupResource) *schema.Kind {
	return x.load().byStorage[x.storage(resource)]
}

// load returns the current index. Concurrent callers may each build a new index.
func (x *kindIndex) load() *indexedKinds {
	generation := x.catalog.Generation() // read before the kinds, which may then be newer but not older
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

type kindSource struct {
	index    *kindIndex
	resource meta.GroupResource // in platform form
}

func (s kindSource) Changed() <-chan struct{} { return s.index.catalog.Changed() }

func (s kindSource) Kind() *schema.Kind { return s.index.kind(s.resource) }
