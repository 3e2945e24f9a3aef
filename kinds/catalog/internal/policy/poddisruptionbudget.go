package policy

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// The status of a new one is dropped, as an eviction is allowed by what stands in it.
type disruptionBudgetStrategy struct {
	schema.DefaultStrategy
	family.DropStatusOnCreate
}

// Both bounds together could contradict each other, and an eviction must have one answer. An empty selector is
// allowed here and selects every Pod of the namespace.
func (disruptionBudgetStrategy) Validate(obj, _ tree.Tree, faults *schema.Faults) {
	spec := obj.Object("spec")
	if spec.Has("minAvailable") && spec.Has("maxUnavailable") {
		faults.Invalid("spec", spec, "minAvailable and maxUnavailable cannot be both set")
	}
	field.LabelSelector(spec.Object("selector"), "spec.selector", faults)
	field.Conditions(obj.Object("status"), "status.conditions", faults)
}
