package pod

import (
	"fmt"

	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// ephemeralView returns the view that adds ephemeral containers to an existing Pod. mirror is the
// annotation that marks the mirror Pod of a static Pod.
//
// Ephemeral containers cannot be removed, because they may have run and appear in the status. Other
// fields of the body are ignored, so that this subresource permits no other change.
func ephemeralView(mirror string, container *schema.Declaration) schema.View {
	return schema.View{Write: func(obj, body tree.Tree, _ string, faults *schema.Faults) error {
		// The node runs a static Pod from a file and would ignore changes to its mirror Pod.
		const path = "spec.ephemeralContainers"
		if obj.Annotations().Has(mirror) {
			faults.Forbidden("", "static pods do not support ephemeral containers")
		}
		added := map[string]tree.Tree{}
		for _, c := range body.Object("spec").Objects("ephemeralContainers") {
			// Only ephemeral containers need defaults, because other fields of the body are
			// ignored.
			if c != nil {
				rules.DefaultValue(container.Message().Values, c)
				defaultContainer(c)
				added[c.String("name")] = c
			}
		}
		for _, was := range obj.Object("spec").Objects("ephemeralContainers") {
			name := was.String("name")
			switch now := added[name]; {
			case now == nil:
				faults.Forbidden(path, fmt.Sprintf("existing ephemeral containers %q may not be removed", name))
			case !container.Message().Same(now, was):
				faults.Forbidden(path, fmt.Sprintf("existing ephemeral containers %q may not be changed", name)+container.Message().Changes(was, now, ""))
			}
		}
		obj.EnsureObject("spec").CopyField(body.Object("spec"), "ephemeralContainers")
		return nil
	}}
}
