package meta

import (
	"slices"
	"strings"
	"sync/atomic"
)

// An Object is one committed state of an API object. It is immutable but for what it
// remembers, and shared by everyone who reads it; nobody may write into its JSON.
type Object struct {
	Key     Key
	Version uint64 // the resource version
	// JSON is the object as clients get it: kind and apiVersion first, then metadata.
	JSON []byte
	// Item is the offset in JSON at which the object goes on after kind and
	// apiVersion: an item of a list is '{' followed by JSON[Item:].
	Item int
	Head Head

	remembers atomic.Pointer[memory] // nil for nothing
}

// A memory is what an object remembers of questions that it was asked. It never changes.
type memory struct {
	echoes []Digest // of Echoes
	form   *Form    // of InForm
}

// A Form stands for a form that objects may have: the one that a certain schema gives them.
type Form struct{ plain memory }

// NewForm makes one.
func NewForm() *Form {
	f := &Form{}
	f.plain.form = f
	return f
}

// InForm tells whether the object is known to have a form.
func (o *Object) InForm(f *Form) bool {
	known := o.remembers.Load()
	return known != nil && known.form == f
}

// SetForm remembers that the object has a form, and no other. Objects of one form share that memory.
func (o *Object) SetForm(f *Form) {
	known := o.remembers.Load()
	fresh := &f.plain
	if known != nil && len(known.echoes) > 0 {
		fresh = &memory{known.echoes, f}
	}
	o.remembers.CompareAndSwap(known, fresh)
}

// A Digest stands for a request.
type Digest [16]byte

// maxEchoes is how many Digests an Object remembers: about as many as appliers it has.
const maxEchoes = 4

// Echoes tells whether an apply is known to change nothing of this state. digest is only asked
// for if some are.
func (o *Object) Echoes(digest func() Digest) bool {
	known := o.remembers.Load()
	return known != nil && len(known.echoes) > 0 && slices.Contains(known.echoes, digest())
}

// AddEcho remembers that an apply changes nothing of this state. Beyond a few, the oldest is
// forgotten.
func (o *Object) AddEcho(d Digest) {
	var known memory
	if old := o.remembers.Load(); old != nil {
		known = *old
	}
	known.echoes = append([]Digest{d}, known.echoes[:min(len(known.echoes), maxEchoes-1)]...)
	o.remembers.Store(&known)
}

// A Head holds what the server itself asks of an object's metadata.
type Head struct {
	UID        string
	Generation int64
	Labels     Labels
	// Fields holds the values of the kind's selectable fields beyond metadata.name
	// and metadata.namespace, in the order in which the kind declares them.
	Fields      []string
	Owners      []Owner
	Finalizers  []string
	Terminating bool // deletionTimestamp is set
}

// Clone is the head with texts of its own, which keep nothing else alive.
func (h Head) Clone() Head {
	h.UID = strings.Clone(h.UID)
	h.Fields, h.Finalizers = cloneTexts(h.Fields), cloneTexts(h.Finalizers)
	labels := slices.Clone(h.Labels)
	for i := range labels {
		labels[i] = Label{strings.Clone(labels[i].Key), strings.Clone(labels[i].Value)}
	}
	h.Labels = labels
	owners := slices.Clone(h.Owners)
	for i := range owners {
		o := &owners[i]
		o.APIVersion, o.Kind, o.Name, o.UID = strings.Clone(o.APIVersion), strings.Clone(o.Kind), strings.Clone(o.Name), strings.Clone(o.UID)
	}
	h.Owners = owners
	return h
}

func cloneTexts(texts []string) []string {
	own := slices.Clone(texts)
	for i := range own {
		own[i] = strings.Clone(own[i])
	}
	return own
}

// An Owner is one entry of metadata.ownerReferences.
type Owner struct {
	APIVersion, Kind, Name, UID string
	Controller, BlockDeletion   bool
}
