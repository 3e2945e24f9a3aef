package family

import (
	"github.com/troupe-api/troupe/kinds/tree"
)

// DropStatusOnCreate drops the status of a new object: it is written through the sub-resource.
func DropStatusOnCreate(obj, old tree.Tree) {
	if old == nil {
		delete(obj, "status")
	}
}

// KeepStatus ignores the status in writes of the main resource: it is written through the sub-resource.
func KeepStatus(obj, old tree.Tree) { obj.CopyField(old, "status") }
