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
	// ItemOffset is the offset in JSON at which the object goes on after kind and
	// apiVersion: an item of a list is '{' followed by JSON[Item:].
	ItemOffset int
	Meta       ObjectMeta

	memo atomic.Pointer[objectMemo] // nil for nothing
}

// A memory is what an object remembers of questions that it was asked. It never changes.
type objectMemo struct {
	noOpApplies []Digest  // of Echoes
	schema      *SchemaID // of ConformsTo
}

// A Form stands for a form that objects may have: the one that a certain schema gives them.
type SchemaID struct{ memo objectMemo }

// NewSchemaID makes one.
func NewSchemaID() *SchemaID {
	id := &SchemaID{}
	id.memo.schema = id
	return id
}

// ConformsTo tells whether the object is known to have a form.
func (o *Object) ConformsTo(id *SchemaID) bool {
	known := o.memo.Load()
	return known != nil && known.schema == id
}

// SetConformsTo remembers that the object has a form, and no other. Objects of one form share that memory.
func (o *Object) SetConformsTo(id *SchemaID) {
	known := o.memo.Load()
	fresh := &id.memo
	if known != nil && len(known.noOpApplies) > 0 {
		fresh = &objectMemo{known.noOpApplies, id}
	}
	o.memo.CompareAndSwap(known, fresh)
}

// A Digest stands for a request.
type Digest [16]byte

// maxNoOpApplies is how many Digests an Object remembers: about as many as appliers it has.
const maxNoOpApplies = 4

// IsNoOpApply tells whether an apply is known to change nothing of this state. digest is only asked
// for if some are.
func (o *Object) IsNoOpApply(digest func() Digest) bool {
	known := o.memo.Load()
	return known != nil && len(known.noOpApplies) > 0 && slices.Contains(known.noOpApplies, digest())
}

// AddNoOpApply remembers that an apply changes nothing of this state. Beyond a few, the oldest is
// forgotten.
func (o *Object) AddNoOpApply(d Digest) {
	var known objectMemo
	if old := o.memo.Load(); old != nil {
		known = *old
	}
	known.noOpApplies = append([]Digest{d}, known.noOpApplies[:min(len(known.noOpApplies), maxNoOpApplies-1)]...)
	o.memo.Store(&known)
}

// A Head holds what the server itself asks of an object's metadata.
type ObjectMeta struct {
	UID        string
	Generation int64
	Labels     Labels
	// Fields holds the values of the kind's selectable fields beyond metadata.name
	// and metadata.namespace, in the order in which the kind declares them.
	Fields          []string
	OwnerReferences []OwnerReference
	Finalizers      []string
	Terminating     bool // deletionTimestamp is set
}

// Clone is the head with texts of its own, which keep nothing else alive.
func (h ObjectMeta) Clone() ObjectMeta {
	h.UID = strings.Clone(h.UID)
	h.Fields, h.Finalizers = cloneStrings(h.Fields), cloneStrings(h.Finalizers)
	labels := slices.Clone(h.Labels)
	for i := range labels {
		labels[i] = Label{strings.Clone(labels[i].Key), strings.Clone(labels[i].Value)}
	}
	h.Labels = labels
	owners := slices.Clone(h.OwnerReferences)
	for i := range owners {
		o := &owners[i]
		o.APIVersion, o.Kind, o.Name, o.UID = strings.Clone(o.APIVersion), strings.Clone(o.Kind), strings.Clone(o.Name), strings.Clone(o.UID)
	}
	h.OwnerReferences = owners
	return h
}

func cloneStrings(texts []string) []string {
	own := slices.Clone(texts)
	for i := range own {
		own[i] = strings.Clone(own[i])
	}
	return own
}

// An Owner is one entry of metadata.ownerReferences.
type OwnerReference struct {
	APIVersion, Kind, Name, UID    string
	Controller, BlockOwnerDeletion bool
}
