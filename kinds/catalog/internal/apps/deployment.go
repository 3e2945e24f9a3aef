package apps

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/core/pod"
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

func deploymentRules() schema.Rules {
	return schema.Rules{
		Default: defaultDeployment, Prepare: family.DropStatusOnCreate,
		Validate: validateDeployment, ValidateUpdate: validateImmutableSelector,
	}
}

func defaultDeployment(obj tree.Tree) {
	spec := obj.EnsureObject("spec")
	pod.DefaultTemplate(spec.EnsureObject("template"))
	if strategy := spec.EnsureObject("strategy"); strategy.String("type") == "RollingUpdate" {
		rolling := strategy.EnsureObject("rollingUpdate")
		field.SetIfAbsent(rolling, "maxUnavailable", "25%")
		field.SetIfAbsent(rolling, "maxSurge", "25%")
	}
}

func validateDeployment(obj tree.Tree, faults *schema.Faults) {
	spec := obj.Object("spec")
	field.NonNegative(spec, "spec", faults, "replicas")
	workload{kind: "ReplicaSet", selectorKind: "deployment"}.validate(spec, nil, faults)
	validateDeploymentStrategy(spec.Object("strategy"), faults)
	field.NonNegative(spec, "spec", faults, "minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds")
	ready, _ := spec.Int("minReadySeconds")
	if n, ok := spec.Int("progressDeadlineSeconds"); ok && n <= ready {
		faults.Invalid("spec.progressDeadlineSeconds", n, "must be greater than minReadySeconds")
	}
	validateStatusCounts(obj, faults,
		[]string{"observedGeneration", "replicas", "updatedReplicas", "readyReplicas", "availableReplicas",
			"unavailableReplicas", "terminatingReplicas", "collisionCount"},
		[]string{"updatedReplicas", "readyReplicas", "availableReplicas"})
}

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
