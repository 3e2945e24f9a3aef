package policy

import (
	"github.com/troupe-api/troupe/kinds/schema"
)

// Kinds lists the kinds of the group with their strategies.
func Kinds() []schema.Behavior {
	return []schema.Behavior{
		{Name: "policy/v1/PodDisruptionBudget", Strategy: disruptionBudgetStrategy{}},
	}
}
