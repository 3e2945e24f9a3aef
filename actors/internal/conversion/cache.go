package conversion

import (
	"sync"

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

// cache keeps converted objects in two generations. New entries go into young; when that is full it
// becomes old, whose entries are then dropped unless they were used.
type cache struct {
	mu         sync.Mutex
	young, old map[key]entry
	bytes      int // of young
}

type entry struct {
	object *meta.Object
	size   int
}

func (c *cache) get(at key) *meta.Object {
	if at == (key{}) {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.young[at]; ok {
		return e.object
	}
	e, ok := c.old[at]
	if ok {
		c.put(at, e)
	}
	return e.object
}

func (c *cache) add(at key, stored, converted *meta.Object) {
	if at == (key{}) || converted == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(at, entry{converted, len(stored.JSON) + len(converted.JSON) + entryOverhead})
}

func (c *cache) put(at key, e entry) {
	if e.size > maxCacheBytes/2 {
		return
	}
	if c.bytes+e.size > maxCacheBytes/2 || c.young == nil {
		c.young, c.old, c.bytes = make(map[key]entry), c.young, 0
	}
	if _, ok := c.young[at]; !ok {
		c.young[at] = e
		c.bytes += e.size
	}
}
