package resource

import (
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

type deviceTaintRuleStrategy struct{ schema.KeptStatus }

// Stamp sets timeAdded when the taint is added or its effect changes, unless the client
// specifies another time.
func (deviceTaintRuleStrategy) Stamp(obj, old tree.Tree, now string) {
	taint, was := obj.EnsureObject("spec").EnsureObject("taint"), old.Object("spec", "taint")
	if !taint.Has("timeAdded") || taint["effect"] != was["effect"] && taint["timeAdded"] == was["timeAdded"] {
		taint["timeAdded"] = now
	}
}
