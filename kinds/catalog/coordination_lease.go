package catalog

import (
	"strings"

	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

func leaseRules() schema.Rules { return schema.Rules{Validate: validateLease} }

func validateLease(obj schema.Tree, faults *schema.Faults) {
	spec := rules.Nested(obj, "spec")
	if n, ok := rules.Int(spec, "leaseDurationSeconds"); ok && n <= 0 {
		faults.Invalid("spec.leaseDurationSeconds", n, "must be greater than 0")
	}
	validateNonNegative(spec, "spec", faults, "leaseTransitions")
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
	if rules.String(spec, "preferredHolder") != "" && strategy == "" {
		faults.Forbidden("spec.preferredHolder", "may only be specified if `strategy` is defined")
	}
}
