package apps

import (
	"github.com/troupe-api/troupe/kinds/schema"
)

// Kinds returns the group's kinds with their strategies. message looks up a Declaration by name.
func Kinds(message func(name string) *schema.Declaration, enabled func(gate string) bool) []schema.Behavior {
	return []schema.Behavior{
		{Name: "apps/v1/DaemonSet", Strategy: daemonSetStrategy{}},
		{Name: "apps/v1/Deployment", Strategy: deploymentStrategy{}},
		{Name: "apps/v1/ReplicaSet", Strategy: replicaSetStrategy{}},
		{Name: "apps/v1/StatefulSet", Strategy: statefulSetStrategy{hasBudget: enabled("MaxUnavailableStatefulSet")}},
	}
}

// RuleFunctions contains the functions that declarative rules call by name.
var RuleFunctions = map[string]schema.CheckFunc{"templateGeneration": schema.ObjectCheck(validateTemplateGeneration)}
