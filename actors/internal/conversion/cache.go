package conversion

import (
	"sync"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// maxCacheBytes bounds what the cache keeps alive: converted objects, and the stored ones with whose
// heads they share memory.
const maxCacheBytes = 32 << 20

// entryOverhead is about what an entry takes beside the JSON of its objects.
const entryOverhead = 512

// key names a state of an object in the form of a kind. The zero key names nothing.
type key struct {
	uid     string
	version uint64
	// deleted: the last state that a watch sees, which is not the one that readers see under that
	// version if the object has only left the watch's selector.
	deleted bool
	// The target: the schema of a custom kind, which changes with each change of the definition; or a
	// built-in kind. Custom kinds themselves are large, and must not be kept alive by entries.
	schema *meta.SchemaID
	kind   *schema.Kind
}

// keyOf is the key of an object as kind k shows it. Objects without a uid or a version have none.
func keyOf(k *schema.Kind, o *meta.Object, deleted bool) key {
	switch {
	case o.Meta.UID == "" || o.Version == 0:
		return key{}
	case k.IsCustom():
		return key{uid: o.Meta.UID, version: o.Version, deleted: deleted, schema: k.Origin.Schema.ID()}
	}
	return key{uid: o.Meta.UID, version: o.Version, deleted: deleted, kind: k}
}

// cache keeps converted objects. It has two halves: entries go into the young one, and when that is
// full it becomes the old one, whose entries are then dropped unless somebody has asked for them.
type cache struct {
	mu         sync.Mutex
	young, old map[key]entry
	bytes      int // of young
}

type entry struct {
	object *meta.Object
	size   int
}

// get finds a converted object; nil if it has to be made.
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

// add keeps a converted object, which was made of a stored one.
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
