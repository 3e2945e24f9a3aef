package field

import (
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Immutable reports a field below path that changed.
func Immutable(t, old tree.Tree, path, name string, faults *schema.Faults) {
	if !tree.SemanticEqual(t[name], old[name]) {
		faults.Invalid(tree.FieldPath(path, name), t[name], "field is immutable")
	}
}

// Require reports the named texts that are absent or "".
func Require(t tree.Tree, path string, faults *schema.Faults, names ...string) {
	for _, name := range names {
		if tree.IsEmpty(t[name]) {
			faults.Required(tree.FieldPath(path, name))
		}
	}
}
