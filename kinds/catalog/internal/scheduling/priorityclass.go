package scheduling

import (
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// priorityClassStrategy does not compare classes with each other: that there is one default is
// checked by admission, which sees them all.
type priorityClassStrategy struct{ schema.DefaultStrategy }

// Prepare gives a new class its one generation: no update of a class is counted.
func (priorityClassStrategy) Prepare(obj, old tree.Tree) {
	if old == nil {
		obj.EnsureObject("metadata")["generation"] = int64(1)
	}
}
