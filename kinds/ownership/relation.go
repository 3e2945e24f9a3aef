package ownership

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/schema"
)

// A relation is how a value is divided among owners.
type relation uint8

const (
	whole   relation = iota // not at all
	message                 // field by field
	table                   // key by key
	items                   // item by item: a set, or a list with keys
)

// relationOf is the relation of the values of f; of an element of f's list or map, if
// element is set.
func relationOf(f *schema.Field, element bool) relation {
	if !element {
		switch {
		case f.Shape == schema.Map && !f.MapAtomic:
			return table
		case f.Shape == schema.List && f.ListType != schema.ListAtomic:
			return items
		case f.Shape != schema.Single:
			return whole
		}
	}
	if f.Type == schema.TypeMessage && !f.MapAtomic {
		return message
	}
	return whole
}

// A skip tells which fields of an object nobody owns, or which a write does not reach.
type skip struct {
	// status: the status is none of this write's business.
	status bool
	// only, if set, is the one field of the object, beside metadata, that the write reaches.
	only string
	// metadata are the fields of metadata that the write does not reach.
	metadata []string
}

// nobodys are the fields of metadata that nobody owns.
var nobodys = map[string]bool{
	"name": true, "namespace": true, "uid": true, "resourceVersion": true, "generation": true,
	"creationTimestamp": true, "selfLink": true, "managedFields": true,
}

// root tells whether the field of an object is skipped.
func (s skip) root(name string) bool {
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
	return s.only != "" && name != s.only
}

// head tells whether a field of metadata is skipped.
func (s skip) head(name string) bool { return nobodys[name] || slices.Contains(s.metadata, name) }
