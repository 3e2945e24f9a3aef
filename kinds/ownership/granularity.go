package ownership

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/schema"
)

// A relation is how a value is divided among owners.
type granularity uint8

const (
	atomic  granularity = iota // not at all
	byField                    // field by field
	byKey                      // key by key
	byItem                     // item by item: a set, or a list with keys
)

// granularityOf is the relation of the values of f; of an element of f's list or map, if
// element is set.
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

// A skip tells which fields of an object nobody owns, or which a write does not reach.
type excludedFields struct {
	// status: the status is none of this write's business.
	status bool
	// onlyField, if set, is the one field of the object, beside metadata, that the write reaches.
	onlyField string
	// metadata are the fields of metadata that the write does not reach.
	metadata []string
}

// unownedMetadata are the fields of metadata that nobody owns.
var unownedMetadata = map[string]bool{
	"name": true, "namespace": true, "uid": true, "resourceVersion": true, "generation": true,
	"creationTimestamp": true, "selfLink": true, "managedFields": true,
}

// excludesField tells whether the field of an object is skipped.
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

// excludesMetadata tells whether a field of metadata is skipped.
func (s excludedFields) excludesMetadata(name string) bool {
	return unownedMetadata[name] || slices.Contains(s.metadata, name)
}
