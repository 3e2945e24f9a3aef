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
		if rules.Has(rules.Sub(obj, "metadata", "annotations"), mirror) {
			faults.Forbidden("", "static pods do not support ephemeral containers")
		}
		added := map[string]schema.Tree{}
		for _, c := range rules.Trees(rules.Sub(body, "spec"), "ephemeralContainers") {
			if c != nil {
				defaultContainer(c)
				added[rules.Text(c, "name")] = c
			}
		}
		for _, was := range rules.Trees(rules.Sub(obj, "spec"), "ephemeralContainers") {
			name := rules.Text(was, "name")
			switch now := added[name]; {
			case now == nil:
				faults.Forbidden(path, fmt.Sprintf("existing ephemeral containers %q may not be removed\n", name))
			case !rules.Equal(now, was):
				faults.Forbidden(path, fmt.Sprintf("existing ephemeral containers %q may not be changed\n", name))
			}
		}
		rules.Carry(rules.Grow(obj, "spec"), rules.Sub(body, "spec"), "ephemeralContainers")
		return nil
	}}
}
