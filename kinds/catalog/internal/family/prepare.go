package family

import (
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// DropStatusOnCreate drops the status of a new object: it is written through the sub-resource.
func DropStatusOnCreate(obj, old tree.Tree) {
	if old == nil {
		delete(obj, "status")
	}
}

// CheckedStatus is the view of a status that check looks at before it takes the place of the old one.
func CheckedStatus(check func(status, old tree.Tree, faults *schema.Faults)) schema.View {
	return schema.View{Write: func(obj, body tree.Tree, _ string, faults *schema.Faults) error {
		check(body.Object("status"), obj.Object("status"), faults)
		obj.CopyField(body, "status")
		return nil
	}}
}

// KeepStatus ignores the status in writes of the main resource: it is written through the sub-resource.
func KeepStatus(obj, old tree.Tree) { obj.CopyField(old, "status") }
