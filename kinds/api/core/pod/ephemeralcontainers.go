package pod

import (
	"fmt"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// ephemeralView adds ephemeral containers to an existing Pod. mirror is the annotation of mirrors
// of static Pods.
//
// Containers cannot be removed: they may have run, and the status has their state. Other fields of
// the body are ignored, so that the right to this subresource grants nothing else.
func ephemeralView(mirror string, container *schema.Message) schema.View {
	return schema.View{Write: func(obj, body tree.Tree, _ string, faults *schema.Faults) error {
		// A node runs a static Pod from a file and would ignore a change of its mirror.
		const path = "spec.ephemeralContainers"
		if obj.Object("metadata", "annotations").Has(mirror) {
			faults.Forbidden("", "static pods do not support ephemeral containers")
		}
		added := map[string]tree.Tree{}
		for _, c := range body.Object("spec").Objects("ephemeralContainers") {
			// Only this list of the body counts, so only it gets defaults.
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
