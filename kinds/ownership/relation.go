package ownership

import "github.com/troupe-api/troupe/kinds/schema"

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
	// only, if set, is the one field of the object that the write reaches.
	only string
}

// nobodys are the fields of metadata that nobody owns.
var nobodys = map[string]bool{
	"name": true, "namespace": true, "uid": true, "resourceVersion": true, "generation": true,
	"creationTimestamp": true, "selfLink": true, "managedFields": true,
}

// root tells whether the field of an object is skipped.
func (s skip) root(name string) bool {
	return name == "kind" || name == "apiVersion" || s.status && name == "status" || s.only != "" && name != s.only
}
