package pod

import (
	"fmt"

	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// validateEphemeralNames checks the names of the claims for ephemeral volumes, which are composed
// of Pod and volume name. They may be too long even if each part is valid.
func validateEphemeralNames(pod tree.Tree, faults *schema.Faults) {
	name := pod.Object("metadata").String("name")
	for i, v := range pod.Object("spec").Objects("volumes") {
		volume := v.String("name")
		if name == "" || volume == "" || v.Object("ephemeral") == nil {
			continue // validateSource reports a missing claim template
		}
		claim := name + "-" + volume
		for _, msg := range rules.Subdomain(claim) {
			faults.Invalid(tree.IndexPath("spec.volumes", i)+".name", volume, fmt.Sprintf("PVC name %q: %s", claim, msg))
		}
	}
}
