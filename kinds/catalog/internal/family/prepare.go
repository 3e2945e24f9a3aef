package family

import (
	"github.com/troupe-api/troupe/kinds/tree"
)

// DropStatusOnCreate drops the status of a new object: others fill it in.
func DropStatusOnCreate(obj, old tree.Tree) {
	if old == nil {
		delete(obj, "status")
	}
}

// KeepStatus keeps status, which has a sub-resource, out of writes of the main resource.
func KeepStatus(obj, old tree.Tree) { obj.CopyField(old, "status") }
