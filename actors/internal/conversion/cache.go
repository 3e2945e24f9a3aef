package conversion

import (
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// maxCacheBytes limits the memory that the cache retains. It includes the stored objects, because
// converted objects share their metadata.
const maxCacheBytes = 32 << 20

// entryOverhead is the approximate size of an entry in bytes, without the JSON of its objects.
const entryOverhead = 512

// A key identifies one conversion: the object, its version and the target kind. Results under the
// zero key are neither cached nor shared.
type key struct {
	uid     string
	version uint64
	// deleted marks the object of a Deleted event, which has the same version as the object after
	// the change.
	deleted bool
	// schema identifies a custom target kind, because a pointer would keep the large kind in
	// memory. kind identifies a built-in kind.
	schema *meta.SchemaID
	kind   *schema.Kind
}

func keyOf(k *schema.Kind, o *meta.Object, deleted bool) key {
	switch {
	case o.Meta.UID == "" || o.Version == 0:
		return key{}
	case k.IsCustom():
		return key{uid: o.Meta.UID, version: o.Version, deleted: deleted, schema: k.Origin.Schema.ID()}
	}
	return key{uid: o.Meta.UID, version: o.Version, deleted: deleted, kind: k}
}

func (s *Service) add(at key, stored, converted *meta.Object) {
	if at != (key{}) && converted != nil {
		s.cache.Put(at, converted, len(stored.JSON)+len(converted.JSON)+entryOverhead)
	}
}

func (s *Service) cached(at key) *meta.Object {
	o, _ := s.cache.Get(at)
	return o
}
