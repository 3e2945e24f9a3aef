package field

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Enum requires a field to have one of the given values. The message lists them in the given order.
func Enum(t tree.Tree, name, path string, faults *schema.Faults, choices ...string) {
	path = tree.FieldPath(path, name)
	switch s := t.String(name); {
	case s == "":
		faults.Required(path)
	case !slices.Contains(choices, s):
		faults.NotSupported(path, s, choices)
	}
}

// OptionalEnum is like Enum, but accepts an absent field.
func OptionalEnum(t tree.Tree, name, path string, faults *schema.Faults, choices ...string) {
	if t.String(name) != "" {
		Enum(t, name, path, faults, choices...)
	}
}
