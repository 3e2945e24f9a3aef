package family

import (
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// DropStatusOnCreate is the Preparer of kinds whose status is written through the sub-resource
// only: a new object has none.
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

// KeepStatus is the Preparer of kinds whose status is written through the sub-resource only.
type KeepStatus struct{}

// Prepare ignores the status in writes of the main resource.
func (KeepStatus) Prepare(obj, old tree.Tree) { obj.CopyField(old, "status") }

// CheckedStatus is the view of a status that check looks at before it takes the place of the old one.
func CheckedStatus(check func(status, old tree.Tree, faults *schema.Faults)) schema.View {
	return schema.View{Write: func(obj, body tree.Tree, _ string, faults *schema.Faults) error {
		check(body.Object("status"), obj.Object("status"), faults)
		obj.CopyField(body, "status")
		return nil
	}}
}
