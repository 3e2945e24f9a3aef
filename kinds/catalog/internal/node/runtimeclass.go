package node

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/catalog/internal/resourcelist"
	"github.com/troupe-api/troupe/kinds/catalog/internal/scheduling"
	"github.com/troupe-api/troupe/kinds/catalog/internal/warning"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// The handler of a class is immutable by its declaration, for running Pods refer to the class and not to the handler.
type runtimeClassStrategy struct {
	family.AlwaysWarns
	labels warning.NodeLabels
}

// The overhead is checked like the limits of a container, which it is added to. Repeated tolerations are found by
// their text, since all their fields together tell two of them apart.
func (runtimeClassStrategy) Validate(obj, _ tree.Tree, faults *schema.Faults) {
	handler := obj.String("handler")
	for _, msg := range rules.Label(handler) {
		faults.Invalid("handler", handler, msg)
	}
	if fixed := obj.Object("overhead", "podFixed"); fixed != nil {
		resourcelist.ValidateRequirements(tree.Tree{"limits": fixed}, "overhead", faults)
	}
	pods := obj.Object("scheduling")
	rules.ValidateLabels(pods.Object("nodeSelector"), "scheduling.nodeSelector", faults)
	tolerations, seen := pods.Objects("tolerations"), rules.Seen{}
	for i, t := range tolerations {
		at := tree.IndexPath("scheduling.tolerations", i)
		scheduling.ValidateToleration(t, at, faults)
		if seen.Repeats(string(codec.AppendAny(nil, t))) {
			faults.Duplicate(at, t)
		}
	}
}
