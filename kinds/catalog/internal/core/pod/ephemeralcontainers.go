package pod

import (
	"fmt"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// ephemeralView adds ephemeral containers to an existing Pod.
// mirror is the annotation that marks the mirror of a static Pod, which a node runs on its own.
//
// Containers can be added and never taken away: they may have run, and their state is in the status. The Pod's other
// fields are taken from the stored object, so that the right to this sub-resource gives no other.
func ephemeralView(mirror string, container *schema.Message) schema.View {
	return schema.View{Write: func(obj, body tree.Tree, _ string, faults *schema.Faults) error {
		// The server has no way to a static Pod: its node runs it from a file, and would ignore the change
		// of the mirror.
		const path = "spec.ephemeralContainers"
		if obj.Object("metadata", "annotations").Has(mirror) {
			faults.Forbidden("", "static pods do not support ephemeral containers")
		}
		added := map[string]tree.Tree{}
		for _, c := range body.Object("spec").Objects("ephemeralContainers") {
			// The body is a whole Pod but only this list of it counts, so only this list gets defaults.
			if c != nil {
				defaultContainer(c)
				added[c.String("name")] = c
			}
		}
		for _, was := range obj.Object("spec").Objects("ephemeralContainers") {
			name := was.String("name")
			switch now := added[name]; {
			case now == nil:
				faults.Forbidden(path, fmt.Sprintf("existing ephemeral containers %q may not be removed", name))
			case !container.Same(now, was):
				faults.Forbidden(path, fmt.Sprintf("existing ephemeral containers %q may not be changed", name)+container.Changes(was, now, ""))
			}
		}
		obj.EnsureObject("spec").CopyField(body.Object("spec"), "ephemeralContainers")
		return nil
	}}
}
