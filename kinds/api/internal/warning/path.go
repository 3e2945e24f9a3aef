package warning

import (
	"github.com/troupe-api/troupe/kinds/tree"
)

// A Path is the path of a field, whose parts are joined only for a warning.
type Path struct{ base, field string }

// At returns the path of a field below base, which is empty or ends in a dot.
func At(base, field string) Path { return Path{base, field} }

// String returns the whole path.
func (p Path) String() string { return p.base + p.field }

// Index returns the path of a list item.
func (p Path) Index(i int) string { return tree.IndexPath(p.String(), i) }

// Key returns the path of a map entry.
func (p Path) Key(key string) string { return tree.KeyPath(p.String(), key) }
