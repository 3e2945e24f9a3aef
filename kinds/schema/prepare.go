package schema

import (
	"github.com/troupe-api/troupe/kinds/tree"
)

// DropStatusOnCreate is the Preparer of kinds whose new objects have no status.
type DropStatusOnCreate struct{}

// Prepare drops the status of a new object.
func (DropStatusOnCreate) Prepare(obj, old tree.Tree) {
	if old == nil {
		delete(obj, "status")
	}
}

// EmptyStatusOnCreate is the Preparer of kinds whose new objects have an empty status.
type EmptyStatusOnCreate struct{}

// Prepare empties the status of a new object.
func (EmptyStatusOnCreate) Prepare(obj, old tree.Tree) {
	if old == nil {
		obj["status"] = tree.Tree{}
	}
}

// KeepStatus is the Preparer of kinds whose status only the subresource writes.
type KeepStatus struct{}

// Prepare ignores the status in writes of the main resource.
func (KeepStatus) Prepare(obj, old tree.Tree) { obj.CopyField(old, "status") }
