package warning

import (
	"github.com/troupe-api/troupe/kinds/tree"
)

// A Path is the path of a field, in parts that are joined once there is something to warn of.
type Path struct{ base, field string }

// At is the path of a field below base, which ends in a point or is "".
func At(base, field string) Path { return Path{base, field} }

// String is the whole path.
func (p Path) String() string { return p.base + p.field }

// Index is the path of an element of a list.
func (p Path) Index(i int) string { return tree.IndexPath(p.String(), i) }

// Key is the path of an entry of a map.
func (p Path) Key(key string) string { return tree.KeyPath(p.String(), key) }
