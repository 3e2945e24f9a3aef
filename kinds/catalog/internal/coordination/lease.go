package coordination

import (
	"strings"

	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

func leaseRules() schema.Rules { return schema.Rules{Validate: validateLease} }

func validateLease(obj tree.Tree, faults *schema.Faults) {
	spec := obj.Object("spec")
	if n, ok := spec.Int("leaseDurationSeconds"); ok && n <= 0 {
		faults.Invalid("spec.leaseDurationSeconds", n, "must be greater than 0")
	}
	field.NonNegative(spec, "spec", faults, "leaseTransitions")
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
