package apps

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/core/pod"
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

func daemonSetRules() schema.Rules {
	return schema.Rules{
		Default: defaultDaemonSet, Prepare: family.DropStatusOnCreate,
		Validate: validateDaemonSet, ValidateUpdate: validateImmutableSelector,
	}
}

func defaultDaemonSet(obj tree.Tree) {
	spec := obj.EnsureObject("spec")
	pod.DefaultTemplate(spec.EnsureObject("template"))
	if strategy := spec.EnsureObject("updateStrategy"); strategy.String("type") == "RollingUpdate" {
		rolling := strategy.EnsureObject("rollingUpdate")
		field.SetIfAbsent(rolling, "maxUnavailable", int64(1))
		field.SetIfAbsent(rolling, "maxSurge", int64(0))
	}
}

func validateDaemonSet(obj tree.Tree, faults *schema.Faults) {
	spec := obj.Object("spec")
	selector, template := spec.Object("selector"), spec.Object("template")
	if selector != nil {
		workload{selectorKind: "daemonset"}.validateSelector(selector, faults)
	}
	pod.ValidateSelectorMatchesTemplate(selector, template, "spec.template", faults)
	pod.ValidateTemplate(template, "spec.template", nil, faults)
	pod.ValidateLongRunningTemplate(template, "spec.template", "DaemonSet", faults)
	validateDaemonSetStrategy(spec.Object("updateStrategy"), faults)
	field.NonNegative(spec, "spec", faults, "minReadySeconds", "revisionHistoryLimit")
	field.NonNegative(obj.Object("status"), "status", faults,
		"currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady", "observedGeneration",
		"updatedNumberScheduled", "numberAvailable", "numberUnavailable", "collisionCount")
}

func validateDaemonSetStrategy(strategy tree.Tree, faults *schema.Faults) {
	const path = "spec.updateStrategy"
	switch strategy.String("type") {
	case "OnDelete":
	case "RollingUpdate":
		validateDaemonSetRollingUpdate(strategy.Object("rollingUpdate"), path+".rollingUpdate", faults)
	default:
		faults.NotSupported(path, strategy, []string{"RollingUpdate", "OnDelete"})
	}
}

// validateDaemonSetRollingUpdate requires exactly one of maxUnavailable and maxSurge to be non-zero.
func validateDaemonSetRollingUpdate(rolling tree.Tree, path string, faults *schema.Faults) {
	for _, name := range []string{"maxUnavailable", "maxSurge"} {
		field.IntOrPercent(rolling, name, path, true, faults)
	}
	surge := rolling["maxSurge"]
	switch fewer, more := !field.IsZero(rolling["maxUnavailable"]), !field.IsZero(surge); {
	case fewer && more:
		faults.Invalid(path+".maxSurge", surge, "may not be set when maxUnavailable is non-zero")
	case !fewer && !more:
		faults.Required(path+".maxUnavailable", "cannot be 0 when maxSurge is 0")
	}
}
