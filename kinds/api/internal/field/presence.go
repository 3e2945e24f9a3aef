package field

import (
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Immutable adds an error if the field has changed. m and path are the message and the path of t.
func Immutable(m *schema.Message, t, old tree.Tree, path, name string, faults *schema.Faults) {
	if !m.Field(name).Same(t[name], old[name]) {
		faults.Invalid(tree.FieldPath(path, name), t[name], "field is immutable")
	}
}

// Require adds an error for each named field that is absent or empty.
func Require(t tree.Tree, path string, faults *schema.Faults, names ...string) {
	for _, name := range names {
		if tree.IsEmpty(t[name]) {
			faults.Required(tree.FieldPath(path, name))
		}
	}
}
