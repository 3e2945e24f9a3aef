package meta

import (
	"slices"
	"strings"
	"sync/atomic"
	"unsafe"
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
func (h ObjectMeta) Clone() ObjectMeta { return h.copied(strings.Clone) }

// Within is a copy for an object that is kept as json, which never changes. Its strings are parts of json as far as they are
// found there, as those of an object that is read from json are, and so take no memory of their own. They are copies
// otherwise: those that JSON writes in another way, and those far behind.
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

// copied is a copy in which every string is what own makes of it.
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

// An OwnerReference is one entry of metadata.ownerReferences.
type OwnerReference struct {
	APIVersion, Kind, Name, UID    string
	Controller, BlockOwnerDeletion bool
}

// The finalizers by which an object that is being deleted waits for what becomes of its dependents.
const (
	OrphanFinalizer     = "orphan"
	ForegroundFinalizer = "foregroundDeletion"
)
