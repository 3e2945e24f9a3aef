package pod

import (
	"fmt"

	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// validateEphemeralNames checks the names of the claims that are made for the ephemeral volumes of a Pod.
// The claim's name is made of both names by a fixed rule, so that a Pod finds it without a reference. It
// may be too long although each of them is valid.
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
