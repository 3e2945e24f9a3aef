package represent

import (
	"math/rand/v2"
	"sync"

	"github.com/troupe-api/troupe/http/internal/negotiate"
	"github.com/troupe-api/troupe/kinds/meta"
)

// Limits of the cache in bytes. An entry may use at most 1/maxFormShare of maxForms.
const (
	maxForms     = 64 << 20
	maxFormShare = 8
	formOverhead = 128 // of an entry and the object's reference to it
)

// Forms caches objects in encodings other than JSON, so that an object is encoded once for many
// lists, watches, and reads. The zero value is empty.
//
// An encoded form is stored in its object, so lookups need no lock. Eviction is random, because LRU
// would always evict the next form of a list larger than the cache.
type Forms struct {
	// Scarce, if set, reports whether memory is scarce. If so, nothing is cached.
	Scarce func() bool

	mu    sync.Mutex
	kept  []keptForm
	bytes int
}

// A keptForm is an object with a cached form. The cache keeps even an outdated object in memory, so
// size includes both.
type keptForm struct {
	object *meta.Object
	id     meta.FormID
	size   int
}

// formID identifies the encoding and shape of a format. ok is false for formats that are not
// cached: JSON, YAML, and tables.
func formID(f negotiate.Format) (id meta.FormID, ok bool) {
	switch f.Encoding {
	case negotiate.Protobuf:
		id = 1
	case negotiate.CBOR:
		id = 2
	default:
		return 0, false
	}
	switch {
	case f.Shape == negotiate.Whole:
	case f.Shape == negotiate.Table:
		return 0, false
	case f.Version == "v1":
		id += 2
	default:
		id += 4
	}
	return id, true
}

// get returns a form of an object, from the cache if possible. Concurrent callers may encode the
// same form twice.
func (f *Forms) get(o *meta.Object, id meta.FormID, encode func(o *meta.Object) ([]byte, error)) ([]byte, error) {
	if form := o.Form(id); form != nil {
		return form, nil
	}
	form, err := encode(o)
	if err == nil {
		f.keep(o, id, form)
	}
	return form, err
}

func (f *Forms) keep(o *meta.Object, id meta.FormID, form []byte) {
	size := len(form) + len(o.JSON) + formOverhead
	if o.Version == 0 {
		return // a dry run or an unstored kind: not requested again
	}
	if f.Scarce != nil && f.Scarce() {
		f.clear()
		return
	}
	if size > maxForms/maxFormShare || !o.SetForm(id, form) {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.bytes+size > maxForms {
		f.drop(rand.IntN(len(f.kept)))
	}
	f.kept = append(f.kept, keptForm{o, id, size})
	f.bytes += size
}

func (f *Forms) drop(i int) {
	gone, last := f.kept[i], len(f.kept)-1
	gone.object.SetForm(gone.id, nil)
	f.bytes -= gone.size
	f.kept[i] = f.kept[last]
	f.kept[last] = keptForm{} // for the garbage collector
	f.kept = f.kept[:last]
}

func (f *Forms) clear() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.kept) > 0 {
		f.drop(len(f.kept) - 1)
	}
	f.kept = nil
}

// Size returns the number of cached forms and the bytes they use, including their objects.
func (f *Forms) Size() (n, bytes int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.kept), f.bytes
}
