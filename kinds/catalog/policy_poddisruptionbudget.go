package catalog

import (
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

func disruptionBudgetRules() schema.Rules {
	return schema.Rules{Prepare: dropStatusOnCreate, Validate: validateDisruptionBudget}
}

func validateDisruptionBudget(obj tree.Tree, faults *schema.Faults) {
	spec := obj.Object("spec")
	if spec.Has("minAvailable") && spec.Has("maxUnavailable") {
		faults.Invalid("spec", spec, "minAvailable and maxUnavailable cannot be both set")
	}
	for _, name := range []string{"minAvailable", "maxUnavailable"} {
		validateIntOrPercent(spec, name, "spec", true, faults)
	}
	validateLabelSelector(spec.Object("selector"), "spec.selector", faults)
	status := obj.Object("status")
	validateConditions(status, "status.conditions", faults)
	validateNonNegative(status, "status", faults, "disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods")
}
