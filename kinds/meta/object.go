package meta

import (
	"slices"
	"strings"
	"sync/atomic"
	"unsafe"
)

// An Object is one committed version of an API object. It is shared and, except for memo,
// immutable, including its JSON.
type Object struct {
	Key     Key
	Version uint64 // the resource version
	// JSON is the object as clients receive it, beginning with kind, apiVersion and metadata.
	JSON []byte
	// ItemOffset is the offset in JSON after kind and apiVersion. A list item is '{' followed by
	// JSON[ItemOffset:].
	ItemOffset int
	Meta       ObjectMeta

	memo atomic.Pointer[objectMemo] // nil if empty
}

// An ObjectMeta contains the metadata that the server uses.
type ObjectMeta struct {
	UID        string
	Generation int64
	Labels     Labels
	// Fields contains the values of the kind's selectable fields in declaration order, except
	// metadata.name and metadata.namespace.
	Fields          []string
	OwnerReferences []OwnerReference
	Finalizers      []string
	Terminating     bool // deletionTimestamp is set
}

// Clone returns a copy whose strings do not retain the JSON of the object.
func (h ObjectMeta) Clone() ObjectMeta { return h.copied(strings.Clone) }

// Within returns a copy for an object with the given JSON, which must be immutable. Strings that
// occur near the beginning of json share its memory. Others are copied.
func (h ObjectMeta) Within(json []byte) ObjectMeta {
	const searched = 2048 // bytes; metadata comes first
	json = json[:min(len(json), searched)]
	text := unsafe.String(unsafe.SliceData(json), len(json))
	return h.copied(func(s string) string {
		if at := strings.Index(text, s); at >= 0 {
			return text[at : at+len(s)]
		}
		return strings.Clone(s)
	})
}

func (h ObjectMeta) copied(own func(string) string) ObjectMeta {
	h.UID = own(h.UID)
	h.Fields, h.Finalizers = copiedStrings(h.Fields, own), copiedStrings(h.Finalizers, own)
	h.Labels = slices.Clone(h.Labels)
	for i, l := range h.Labels {
		h.Labels[i] = Label{own(l.Key), own(l.Value)}
	}
	h.OwnerReferences = slices.Clone(h.OwnerReferences)
	for i := range h.OwnerReferences {
		o := &h.OwnerReferences[i]
		o.APIVersion, o.Kind, o.Name, o.UID = own(o.APIVersion), own(o.Kind), own(o.Name), own(o.UID)
	}
	return h
}

func copiedStrings(texts []string, own func(string) string) []string {
	texts = slices.Clone(texts)
	for i := range texts {
		texts[i] = own(texts[i])
	}
	return texts
}

// An OwnerReference is an entry of metadata.ownerReferences.
type OwnerReference struct {
	APIVersion, Kind, Name, UID    string
	Controller, BlockOwnerDeletion bool
}

// Finalizers that the garbage collector removes after processing an object's dependents.
const (
	OrphanFinalizer     = "orphan"
	ForegroundFinalizer = "foregroundDeletion"
)
