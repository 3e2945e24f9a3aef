package ownership

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/schema"
)

// A granularity is how a value is divided among owners.
type granularity uint8

const (
	atomic  granularity = iota // not at all
	byField                    // field by field
	byKey                      // key by key
	byItem                     // item by item: a set, or a list with keys
)

// granularityOf is the granularity of the values of f, or with element of the elements of its list or map.
//
// As examples of Pods: spec.containers is byItem and each container byField, metadata.labels is byKey and
// each label atomic, and spec.nodeSelector is atomic as a whole.
func granularityOf(f *schema.Field, element bool) granularity {
	if !element {
		switch {
		case f.Shape == schema.Map && !f.MapAtomic:
			return byKey
		case f.Shape == schema.List && f.ListType != schema.ListAtomic:
			return byItem
		case f.Shape != schema.Single:
			return atomic
		}
	}
	if f.Type == schema.TypeMessage && !f.MapAtomic {
		return byField
	}
	return atomic
}

// excludedFields are the fields that a write leaves out: those without owner, and those that it does not
// reach.
type excludedFields struct {
	// status: the write does not reach the status.
	status bool
	// onlyField, if set, is the one field of the object, beside metadata, that the write reaches.
	onlyField string
	// metadata are the fields of metadata that the write does not reach.
	metadata []string
}

// unownedMetadata are the fields of metadata without owner: the server sets them.
var unownedMetadata = map[string]bool{
	"name": true, "namespace": true, "uid": true, "resourceVersion": true, "generation": true,
	"creationTimestamp": true, "selfLink": true, "managedFields": true,
}

// excludesField tells whether a field of the object is left out.
func (s excludedFields) excludesField(name string) bool {
	switch name {
	case "kind", "apiVersion":
		return true
	case "metadata":
		return slices.Contains(s.metadata, schema.EveryField)
	case "status":
		if s.status {
			return true
		}
	}
	return s.onlyField != "" && name != s.onlyField
}

// excludesMetadata tells whether a field of metadata is left out.
func (s excludedFields) excludesMetadata(name string) bool {
	return unownedMetadata[name] || slices.Contains(s.metadata, name)
}
