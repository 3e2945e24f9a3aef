package meta

import (
	"slices"
	"strings"
	"sync/atomic"
)

// An Object is one committed state of an API object. It is immutable, except for what it remembers in
// memo, and is shared by all who read it; nobody may write into its JSON.
type Object struct {
	Key     Key
	Version uint64 // the resource version
	// JSON is the object as clients get it: kind and apiVersion first, then metadata.
	JSON []byte
	// ItemOffset is the offset in JSON at which the object goes on after kind and apiVersion: an item of a
	// list is '{' followed by JSON[ItemOffset:].
	ItemOffset int
	Meta       ObjectMeta

	memo atomic.Pointer[objectMemo] // nil for nothing
}

// An objectMemo is what an object remembers of earlier questions about it. It never changes; a new one
// takes its place.
type objectMemo struct {
	noOpApplies []Digest  // see IsNoOpApply
	schema      *SchemaID // see ConformsTo
}

// A SchemaID identifies one compiled schema of a custom kind. When the definition changes, there is a new
// one.
type SchemaID struct{ memo objectMemo }

// NewSchemaID is an identity that no other schema has.
func NewSchemaID() *SchemaID {
	id := &SchemaID{}
	id.memo.schema = id
	return id
}

// ConformsTo tells whether the object is known to be in the form that a schema gives it: reading it as
// such would change nothing.
func (o *Object) ConformsTo(id *SchemaID) bool {
	known := o.memo.Load()
	return known != nil && known.schema == id
}

// SetConformsTo remembers that the object has the form of a schema, and of no other. Objects of one schema
// share the memory for it, as there may be millions.
func (o *Object) SetConformsTo(id *SchemaID) {
	known := o.memo.Load()
	fresh := &id.memo
	if known != nil && len(known.noOpApplies) > 0 {
		fresh = &objectMemo{known.noOpApplies, id}
	}
	o.memo.CompareAndSwap(known, fresh)
}

// A Digest is a hash of everything in an apply that its outcome depends on, besides the object.
type Digest [16]byte

// maxNoOpApplies is how many digests an object remembers: about as many as different appliers that it has.
const maxNoOpApplies = 4

// IsNoOpApply tells whether an apply is known to change nothing in this state: controllers send the same
// one over and over. digest is called only if there are any to compare with.
func (o *Object) IsNoOpApply(digest func() Digest) bool {
	known := o.memo.Load()
	return known != nil && len(known.noOpApplies) > 0 && slices.Contains(known.noOpApplies, digest())
}

// AddNoOpApply remembers that an apply changes nothing in this state. Beyond maxNoOpApplies, the oldest is
// forgotten.
func (o *Object) AddNoOpApply(d Digest) {
	var known objectMemo
	if old := o.memo.Load(); old != nil {
		known = *old
	}
	known.noOpApplies = append([]Digest{d}, known.noOpApplies[:min(len(known.noOpApplies), maxNoOpApplies-1)]...)
	o.memo.Store(&known)
}

// An ObjectMeta holds what the server itself needs of an object's metadata.
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

// Clone is a copy with strings of its own, which do not keep the JSON of the object in memory.
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

// An OwnerReference is one entry of metadata.ownerReferences.
type OwnerReference struct {
	APIVersion, Kind, Name, UID    string
	Controller, BlockOwnerDeletion bool
}
