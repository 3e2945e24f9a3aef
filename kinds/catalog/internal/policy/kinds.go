package policy

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
)

// Kinds lists the kinds of policy with their strategies.
func Kinds() []family.Kind {
	return []family.Kind{
		{Name: "policy/v1/PodDisruptionBudget", Strategy: disruptionBudgetStrategy{}},
	}
}
