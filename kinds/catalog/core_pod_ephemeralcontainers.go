package catalog

import (
	"fmt"

	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// ephemeralView adds containers to a Pod that runs. mirror is the annotation of a Pod
// that is only the image of one that a node runs by itself.
func ephemeralView(mirror string) schema.View {
	return schema.View{Write: func(obj, body schema.Tree, _ string, faults *schema.Faults) error {
		const path = "spec.ephemeralContainers"
		if rules.Has(rules.Nested(obj, "metadata", "annotations"), mirror) {
			faults.Forbidden("", "static pods do not support ephemeral containers")
		}
		added := map[string]schema.Tree{}
		for _, c := range rules.Trees(rules.Nested(body, "spec"), "ephemeralContainers") {
			if c != nil {
				defaultContainer(c)
				added[rules.String(c, "name")] = c
			}
		}
		for _, was := range rules.Trees(rules.Nested(obj, "spec"), "ephemeralContainers") {
			name := rules.String(was, "name")
			switch now := added[name]; {
			case now == nil:
				faults.Forbidden(path, fmt.Sprintf("existing ephemeral containers %q may not be removed\n", name))
			case !rules.SemanticEqual(now, was):
				faults.Forbidden(path, fmt.Sprintf("existing ephemeral containers %q may not be changed\n", name))
			}
		}
		rules.CopyField(rules.EnsureNested(obj, "spec"), rules.Nested(body, "spec"), "ephemeralContainers")
		return nil
	}}
}
