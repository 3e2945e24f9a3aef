package resource

import (
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

type deviceTaintRuleStrategy struct{ schema.KeptStatus }

// Stamp records when the taint got its effect, unless the client sets another time.
func (deviceTaintRuleStrategy) Stamp(obj, old tree.Tree, now string) {
	taint, was := obj.EnsureObject("spec").EnsureObject("taint"), old.Object("spec", "taint")
	if !taint.Has("timeAdded") || taint["effect"] != was["effect"] && taint["timeAdded"] == was["timeAdded"] {
		taint["timeAdded"] = now
	}
}
