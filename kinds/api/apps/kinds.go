package apps

import (
	"github.com/troupe-api/troupe/kinds/schema"
)

// Kinds returns the group's kinds with their strategies. message returns the Declaration with
// the given name.
func Kinds(message func(name string) *schema.Declaration, enabled func(gate string) bool) []schema.Behavior {
	return []schema.Behavior{
		{Name: "apps/v1/DaemonSet", Strategy: daemonSetStrategy{}},
		{Name: "apps/v1/Deployment", Strategy: deploymentStrategy{}},
		{Name: "apps/v1/ReplicaSet", Strategy: replicaSetStrategy{}},
		{Name: "apps/v1/StatefulSet", Strategy: statefulSetStrategy{hasBudget: enabled("MaxUnavailableStatefulSet")}},
	}
}

// RuleFunctions maps names to validation functions. The declarative validation rules of the kinds
// call the functions by name.
var RuleFunctions = map[string]schema.CheckFunc{"templateGeneration": schema.ObjectCheck(validateTemplateGeneration)}
