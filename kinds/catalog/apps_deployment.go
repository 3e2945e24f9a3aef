package catalog

import (
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

func deploymentRules() schema.Rules {
	return schema.Rules{
		Default: defaultDeployment, Prepare: dropStatusOnCreate,
		Validate: validateDeployment, ValidateUpdate: validateImmutableSelector,
	}
}

func defaultDeployment(obj schema.Tree) {
	spec := rules.EnsureNested(obj, "spec")
	defaultTemplate(rules.EnsureNested(spec, "template"))
	if strategy := rules.EnsureNested(spec, "strategy"); rules.String(strategy, "type") == "RollingUpdate" {
		rolling := rules.EnsureNested(strategy, "rollingUpdate")
		setIfAbsent(rolling, "maxUnavailable", "25%")
		setIfAbsent(rolling, "maxSurge", "25%")
	}
}

// setIfAbsent sets a field that is not there.
func setIfAbsent(t schema.Tree, name string, v any) {
	if t[name] == nil {
		t[name] = v
	}
}

func validateDeployment(obj schema.Tree, faults *schema.Faults) {
	spec := rules.Nested(obj, "spec")
	validateNonNegative(spec, "spec", faults, "replicas")
	workload{kind: "ReplicaSet", selectorKind: "deployment"}.validate(spec, nil, faults)
	validateDeploymentStrategy(rules.Nested(spec, "strategy"), faults)
	validateNonNegative(spec, "spec", faults, "minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds")
	ready, _ := rules.Int(spec, "minReadySeconds")
	if n, ok := rules.Int(spec, "progressDeadlineSeconds"); ok && n <= ready {
		faults.Invalid("spec.progressDeadlineSeconds", n, "must be greater than minReadySeconds")
	}
	validateStatusCounts(obj, faults,
		[]string{"observedGeneration", "replicas", "updatedReplicas", "readyReplicas", "availableReplicas",
			"unavailableReplicas", "terminatingReplicas", "collisionCount"},
		[]string{"updatedReplicas", "readyReplicas", "availableReplicas"})
}

func validateDeploymentStrategy(strategy schema.Tree, faults *schema.Faults) {
	const path = "spec.strategy"
	rolling := rules.Nested(strategy, "rollingUpdate")
	switch rules.String(strategy, "type") {
	case "Recreate":
		if rolling != nil {
			faults.Forbidden(path+".rollingUpdate", "may not be specified when strategy `type` is 'Recreate'")
		}
	case "RollingUpdate":
		validateIntOrPercent(rolling, "maxUnavailable", path+".rollingUpdate", true, faults)
		validateIntOrPercent(rolling, "maxSurge", path+".rollingUpdate", false, faults)
		if unavailable := rolling["maxUnavailable"]; isZeroIntOrPercent(unavailable) && isZeroIntOrPercent(rolling["maxSurge"]) {
			faults.Invalid(path+".rollingUpdate.maxUnavailable", unavailable, "may not be 0 when `maxSurge` is 0")
		}
	default:
		faults.NotSupported(path, strategy, []string{"Recreate", "RollingUpdate"})
	}
}
