package schema

import (
	"github.com/troupe-api/troupe/kinds/tree"
)

// DropStatusOnCreate is the Preparer for kinds whose objects are created without status.
type DropStatusOnCreate struct{}

// Prepare removes the status on create.
func (DropStatusOnCreate) Prepare(obj, old tree.Tree) {
	if old == nil {
		delete(obj, "status")
	}
}

// EmptyStatusOnCreate is the Strategy of kinds whose objects are created with an empty status.
type EmptyStatusOnCreate struct{ DefaultStrategy }

// Prepare replaces the status with an empty object on create.
func (EmptyStatusOnCreate) Prepare(obj, old tree.Tree) {
	if old == nil {
		obj["status"] = tree.Tree{}
	}
}

// KeepStatus is the Preparer for kinds whose status changes only through the status subresource.
type KeepStatus struct{}

// Prepare restores the status from old.
func (KeepStatus) Prepare(obj, old tree.Tree) { obj.CopyField(old, "status") }

// KeptStatus is a DefaultStrategy with KeepStatus.
type KeptStatus struct {
	DefaultStrategy
	KeepStatus
}
