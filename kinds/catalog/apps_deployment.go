package catalog

import (
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

func deploymentRules() schema.Rules {
	return schema.Rules{
		Default: defaultDeployment, Prepare: startEmpty,
		Validate: validateDeployment, ValidateUpdate: keepSelector,
	}
}

func defaultDeployment(obj schema.Tree) {
	spec := rules.Grow(obj, "spec")
	defaultTemplate(rules.Grow(spec, "template"))
	if strategy := rules.Grow(spec, "strategy"); rules.Text(strategy, "type") == "RollingUpdate" {
		rolling := rules.Grow(strategy, "rollingUpdate")
		setAbsent(rolling, "maxUnavailable", "25%")
		setAbsent(rolling, "maxSurge", "25%")
	}
}

// setAbsent sets a field that is not there.
func setAbsent(t schema.Tree, name string, v any) {
	if t[name] == nil {
		t[name] = v
	}
}

func validateDeployment(obj schema.Tree, faults *schema.Faults) {
	spec := rules.Sub(obj, "spec")
	notNegative(spec, "spec", faults, "replicas")
	workload{kind: "ReplicaSet", lower: "deployment"}.validate(spec, nil, faults)
	validateDeploymentStrategy(rules.Sub(spec, "strategy"), faults)
	notNegative(spec, "spec", faults, "minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds")
	ready, _ := rules.Int(spec, "minReadySeconds")
	if n, ok := rules.Int(spec, "progressDeadlineSeconds"); ok && n <= ready {
		faults.Invalid("spec.progressDeadlineSeconds", n, "must be greater than minReadySeconds")
	}
	validateCounts(obj, faults,
		[]string{"observedGeneration", "replicas", "updatedReplicas", "readyReplicas", "availableReplicas",
			"unavailableReplicas", "terminatingReplicas", "collisionCount"},
		[]string{"updatedReplicas", "readyReplicas", "availableReplicas"})
}

func validateDeploymentStrategy(strategy schema.Tree, faults *schema.Faults) {
	const path = "spec.strategy"
	rolling := rules.Sub(strategy, "rollingUpdate")
	switch rules.Text(strategy, "type") {
	case "Recreate":
		if rolling != nil {
			faults.Forbidden(path+".rollingUpdate", "may not be specified when strategy `type` is 'Recreate'")
		}
	case "RollingUpdate":
		validateShare(rolling, "maxUnavailable", path+".rollingUpdate", true, faults)
		validateShare(rolling, "maxSurge", path+".rollingUpdate", false, faults)
		if unavailable := rolling["maxUnavailable"]; noShare(unavailable) && noShare(rolling["maxSurge"]) {
			faults.Invalid(path+".rollingUpdate.maxUnavailable", unavailable, "may not be 0 when `maxSurge` is 0")
		}
	default:
		faults.NotSupported(path, strategy, []string{"Recreate", "RollingUpdate"})
	}
}
