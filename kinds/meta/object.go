package meta

import (
	"slices"
	"strings"
)

// An Object is one committed state of an API object. It is immutable and shared by
// everyone who reads it; nobody may write into its JSON.
type Object struct {
	Key     Key
	Version uint64 // the resource version
	// JSON is the object as clients get it: kind and apiVersion first, then metadata.
	JSON []byte
	// Item is the offset in JSON at which the object goes on after kind and
	// apiVersion: an item of a list is '{' followed by JSON[Item:].
	Item int
	Head Head
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
