package actors

import (
	"sync"

	"github.com/troupe-api/troupe/kinds/meta"
)

// maxConversionCacheBytes bounds the objects that are kept in another form than the stored one, in bytes.
const maxConversionCacheBytes = 32 << 20

// conversionKey asks for an object in a form.
type conversionKey struct {
	object   *meta.Object
	schemaID *meta.SchemaID
}

// conversionOverhead is about what one of them takes beside its JSON.
const conversionOverhead = 512

// conversionCache keeps objects of custom kinds in forms that are not the stored one, so that those who read
// the same share the work. What nobody has asked for since half of it was filled anew goes.
type conversionCache struct {
	mu         sync.Mutex
	young, old map[conversionKey]*meta.Object
	bytes      int // of young
}

// get finds an object in a form; nil if it has to be made.
func (f *conversionCache) get(key conversionKey) *meta.Object {
	f.mu.Lock()
	defer f.mu.Unlock()
	if converted := f.young[key]; converted != nil {
		return converted
	}
	converted := f.old[key]
	if converted != nil {
		f.put(key, converted)
	}
	return converted
}

// add keeps an object in a form.
func (f *conversionCache) add(key conversionKey, converted *meta.Object) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.put(key, converted)
}

func (f *conversionCache) put(key conversionKey, converted *meta.Object) {
	size := len(key.object.JSON) + len(converted.JSON) + conversionOverhead
	if f.bytes+size > maxConversionCacheBytes/2 || f.young == nil {
		f.young, f.old, f.bytes = make(map[conversionKey]*meta.Object), f.young, 0
	}
	if f.young[key] == nil && size <= maxConversionCacheBytes/2 {
		f.young[key] = converted
		f.bytes += size
	}
}
