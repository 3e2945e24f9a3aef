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

	echoes atomic.Pointer[[]Digest] // of Echoes; nil if there are none
}

// A Digest stands for a request.
type Digest [16]byte

// maxEchoes is how many Digests an Object remembers: about as many as appliers it has.
const maxEchoes = 4

// Echoes tells whether an apply is known to change nothing of this state. digest is only asked
// for if some are.
func (o *Object) Echoes(digest func() Digest) bool {
	known := o.echoes.Load()
	return known != nil && slices.Contains(*known, digest())
}

// AddEcho remembers that an apply changes nothing of this state. Beyond a few, the oldest is
// forgotten.
func (o *Object) AddEcho(d Digest) {
	var known []Digest
	if old := o.echoes.Load(); old != nil {
		known = (*old)[:min(len(*old), maxEchoes-1)]
	}
	known = append([]Digest{d}, known...)
	o.echoes.Store(&known)
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
