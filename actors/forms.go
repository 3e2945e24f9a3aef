package actors

import (
	"sync"

	"github.com/troupe-api/troupe/kinds/meta"
)

// maxForms bounds the objects that are kept in another form than the stored one, in bytes.
const maxForms = 32 << 20

// formOf asks for an object in a form.
type formOf struct {
	object *meta.Object
	form   *meta.Form
}

// formOverhead is about what one of them takes beside its JSON.
const formOverhead = 512

// forms keeps objects of custom kinds in forms that are not the stored one, so that those who read
// the same share the work. What nobody has asked for since half of it was filled anew goes.
type forms struct {
	mu         sync.Mutex
	young, old map[formOf]*meta.Object
	bytes      int // of young
}

// get finds an object in a form; nil if it has to be made.
func (f *forms) get(of formOf) *meta.Object {
	f.mu.Lock()
	defer f.mu.Unlock()
	if shown := f.young[of]; shown != nil {
		return shown
	}
	shown := f.old[of]
	if shown != nil {
		f.put(of, shown)
	}
	return shown
}

// add keeps an object in a form.
func (f *forms) add(of formOf, shown *meta.Object) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.put(of, shown)
}

func (f *forms) put(of formOf, shown *meta.Object) {
	size := len(of.object.JSON) + len(shown.JSON) + formOverhead
	if f.bytes+size > maxForms/2 || f.young == nil {
		f.young, f.old, f.bytes = make(map[formOf]*meta.Object), f.young, 0
	}
	if f.young[of] == nil && size <= maxForms/2 {
		f.young[of] = shown
		f.bytes += size
	}
}
