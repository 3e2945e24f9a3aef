package conversion

import (
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// maxCacheBytes limits the memory that the cache retains: converted objects, and the stored ones
// whose metadata they share.
const maxCacheBytes = 32 << 20

// entryOverhead is the approximate size of an entry besides the JSON of its objects.
const entryOverhead = 512

// key identifies a state of an object in the form of a kind. The zero key identifies nothing.
type key struct {
	uid     string
	version uint64
	// deleted marks the last state that a watch sees. It differs from the state of that version for
	// readers if the object has only left the watch's selector.
	deleted bool
	// The target: the schema of a custom kind, which changes with its CRD, or a built-in kind.
	// Entries must not retain custom kinds, which are large.
	schema *meta.SchemaID
	kind   *schema.Kind
}

// keyOf returns the key of an object in the form of kind k. Objects without a uid or a version have
// none.
func keyOf(k *schema.Kind, o *meta.Object, deleted bool) key {
	switch {
	case o.Meta.UID == "" || o.Version == 0:
		return key{}
	case k.IsCustom():
		return key{uid: o.Meta.UID, version: o.Version, deleted: deleted, schema: k.Origin.Schema.ID()}
	}
	return key{uid: o.Meta.UID, version: o.Version, deleted: deleted, kind: k}
}

// add keeps a converted object, which was made of a stored one.
func (s *Service) add(at key, stored, converted *meta.Object) {
	if at != (key{}) && converted != nil {
		s.cache.Put(at, converted, len(stored.JSON)+len(converted.JSON)+entryOverhead)
	}
}

// cached returns a converted object; nil if it has to be made.
func (s *Service) cached(at key) *meta.Object {
	o, _ := s.cache.Get(at)
	return o
}
