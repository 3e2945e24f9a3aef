package represent

import (
	"math/rand/v2"
	"sync"

	"github.com/troupe-api/troupe/http/internal/negotiate"
	"github.com/troupe-api/troupe/kinds/meta"
)

// What Forms may keep, in bytes; and how large a form may be at most, so that one does not drive out all others.
const (
	maxForms     = 64 << 20
	maxFormShare = 8
	formOverhead = 128 // of an entry and of what the object remembers
)

// Forms keep objects in the encodings that they have been asked for in, beside their JSON: an object that many lists,
// watches and reads show is encoded once. The zero value is empty.
//
// A form is found at its object, without a lock. What is here bounds them: where there is no room, any one of them is
// dropped. Which one does not matter much, and chance has no pattern of reading in which it always drops what
// is asked for next, as lists of more than there is room for would have it otherwise.
type Forms struct {
	// Scarce tells that memory is scarce: then nothing is kept. nil: it never is.
	Scarce func() bool

	mu    sync.Mutex
	kept  []keptForm
	bytes int
}

// A keptForm is an object that has a form. It keeps the object in memory, which may have been replaced since, so that
// its size counts too.
type keptForm struct {
	object *meta.Object
	id     meta.FormID
	size   int
}

// formID names the encoding and the shape of a format. A table is none: it is made anew each time.
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

// get is an object in that form; where it is not kept, encode makes it. Those who ask for it at the same time may each
// make it.
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

// keep keeps a form.
func (f *Forms) keep(o *meta.Object, id meta.FormID, form []byte) {
	size := len(form) + len(o.JSON) + formOverhead
	if o.Version == 0 {
		return // of a dry run, or of a kind that is not stored: nobody asks for it again
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

// drop drops the form at an index.
func (f *Forms) drop(i int) {
	gone, last := f.kept[i], len(f.kept)-1
	gone.object.SetForm(gone.id, nil)
	f.bytes -= gone.size
	f.kept[i] = f.kept[last]
	f.kept[last] = keptForm{} // or the slice would keep the object in memory
	f.kept = f.kept[:last]
}

// clear drops all.
func (f *Forms) clear() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.kept) > 0 {
		f.drop(len(f.kept) - 1)
	}
	f.kept = nil
}

// Size is how many forms there are, and the bytes that they keep in memory, those of their objects included.
func (f *Forms) Size() (n, bytes int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.kept), f.bytes
}
