package apps

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/core/pod"
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// deploymentStrategy drops a status that comes with a create: it would be that of another object,
// and rollouts are followed by it. Annotations count for the generation, because the controller
// copies them to ReplicaSets.
type deploymentStrategy struct {
	NamedWorkload
	family.DropStatusOnCreate
}

func (deploymentStrategy) CountedMetadata() string { return "annotations" }

// A quarter fewer and a quarter more are the values that clients of the API know; they are stored, so that a later
// server with other defaults does not change how an existing object is updated.
func (deploymentStrategy) Default(obj tree.Tree) {
	spec := obj.EnsureObject("spec")
	pod.DefaultTemplate(spec.EnsureObject("template"))
	if strategy := spec.EnsureObject("strategy"); strategy.String("type") == "RollingUpdate" {
		rolling := strategy.EnsureObject("rollingUpdate")
		field.SetIfAbsent(rolling, "maxUnavailable", "25%")
		field.SetIfAbsent(rolling, "maxSurge", "25%")
	}
}

// A deadline that is not later than the time after which a Pod counts as ready would declare every rollout a failure.
func (deploymentStrategy) Validate(obj, _ tree.Tree, faults *schema.Faults) {
	spec := obj.Object("spec")
	workload{kind: "ReplicaSet", selectorKind: "deployment", badSelector: "invalid label selector"}.validate(spec, nil, faults)
	validateDeploymentStrategy(spec.Object("strategy"), faults)
	field.NonNegative(spec, "spec", faults, "progressDeadlineSeconds")
	ready, _ := spec.Int("minReadySeconds")
	if n, ok := spec.Int("progressDeadlineSeconds"); ok && n <= ready {
		faults.Invalid("spec.progressDeadlineSeconds", n, "must be greater than minReadySeconds")
	}
	validateStatusCounts(obj, faults, "updatedReplicas", "readyReplicas", "availableReplicas")
}

// With both values zero a rollout could neither remove an old Pod nor add a new one. Recreate replaces all at once
// and has no use for the numbers; they are refused so that nobody counts on them.
func validateDeploymentStrategy(strategy tree.Tree, faults *schema.Faults) {
	const path = "spec.strategy"
	rolling := strategy.Object("rollingUpdate")
	switch strategy.String("type") {
	case "Recreate":
		if rolling != nil {
			faults.Forbidden(path+".rollingUpdate", "may not be specified when strategy `type` is 'Recreate'")
		}
	case "RollingUpdate":
		field.IntOrPercent(rolling, "maxUnavailable", path+".rollingUpdate", true, faults)
		field.IntOrPercent(rolling, "maxSurge", path+".rollingUpdate", false, faults)
		if unavailable := rolling["maxUnavailable"]; field.IsZero(unavailable) && field.IsZero(rolling["maxSurge"]) {
			faults.Invalid(path+".rollingUpdate.maxUnavailable", unavailable, "may not be 0 when `maxSurge` is 0")
		}
	default:
		faults.NotSupported(path, strategy, []string{"Recreate", "RollingUpdate"})
	}
}
