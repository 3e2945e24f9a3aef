package coordination

import (
	"strings"

	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A Lease is written every few seconds by each node and each leader, so its rules are few and cheap.
type leaseStrategy struct{ schema.DefaultStrategy }

// A strategy without a slash must be a known one: names without a domain belong to the API itself, and those with one
// to whoever owns the domain. A preferred holder only means something to the process that a strategy describes.
func (leaseStrategy) Validate(obj, _ tree.Tree, faults *schema.Faults) {
	spec := obj.Object("spec")
	if n, ok := spec.Int("leaseDurationSeconds"); ok && n <= 0 {
		faults.Invalid("spec.leaseDurationSeconds", n, "must be greater than 0")
	}
	strategy, ok := spec["strategy"].(string)
	switch {
	case !ok:
	case !strings.Contains(strategy, "/"):
		if strategy != "OldestEmulationVersion" {
			faults.NotSupported("spec.strategy", strategy, []string{"OldestEmulationVersion"})
		}
	default:
		for _, msg := range rules.QualifiedName(strategy) {
			faults.Invalid("spec.strategy", strategy, msg)
		}
	}
	if spec.String("preferredHolder") != "" && strategy == "" {
		faults.Forbidden("spec.preferredHolder", "may only be specified if `strategy` is defined")
	}
}
