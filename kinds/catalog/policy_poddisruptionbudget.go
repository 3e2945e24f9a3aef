package catalog

import (
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

func disruptionBudgetRules() schema.Rules {
	return schema.Rules{Prepare: dropStatusOnCreate, Validate: validateDisruptionBudget}
}

func validateDisruptionBudget(obj schema.Tree, faults *schema.Faults) {
	spec := rules.Nested(obj, "spec")
	if rules.Has(spec, "minAvailable") && rules.Has(spec, "maxUnavailable") {
		faults.Invalid("spec", spec, "minAvailable and maxUnavailable cannot be both set")
	}
	for _, name := range []string{"minAvailable", "maxUnavailable"} {
		validateIntOrPercent(spec, name, "spec", true, faults)
	}
	validateLabelSelector(rules.Nested(spec, "selector"), "spec.selector", faults)
	status := rules.Nested(obj, "status")
	validateConditions(status, "status.conditions", faults)
	validateNonNegative(status, "status", faults, "disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods")
}
