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

// The finalizers by which an object that is being deleted waits for what becomes of its dependents.
const (
	OrphanFinalizer     = "orphan"
	ForegroundFinalizer = "foregroundDeletion"
)
