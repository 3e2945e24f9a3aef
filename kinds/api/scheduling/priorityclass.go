package scheduling

import (
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// priorityClassStrategy validates each class on its own. Admission permits only one default class.
type priorityClassStrategy struct{ schema.DefaultStrategy }

// Prepare sets the generation of a new class to 1. Updates do not increment it.
func (priorityClassStrategy) Prepare(obj, old tree.Tree) {
	if old == nil {
		obj.EnsureObject("metadata")["generation"] = int64(1)
	}
}
