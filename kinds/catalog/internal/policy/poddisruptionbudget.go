package policy

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

func disruptionBudgetRules() schema.Rules {
	return schema.Rules{Prepare: family.DropStatusOnCreate, Validate: validateDisruptionBudget}
}

func validateDisruptionBudget(obj tree.Tree, faults *schema.Faults) {
	spec := obj.Object("spec")
	if spec.Has("minAvailable") && spec.Has("maxUnavailable") {
		faults.Invalid("spec", spec, "minAvailable and maxUnavailable cannot be both set")
	}
	for _, name := range []string{"minAvailable", "maxUnavailable"} {
		field.IntOrPercent(spec, name, "spec", true, faults)
	}
	field.LabelSelector(spec.Object("selector"), "spec.selector", faults)
	status := obj.Object("status")
	field.Conditions(status, "status.conditions", faults)
	field.NonNegative(status, "status", faults, "disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods")
}
