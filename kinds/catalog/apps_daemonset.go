package catalog

import (
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

func daemonSetRules() schema.Rules {
	return schema.Rules{
		Default: defaultDaemonSet, Prepare: dropStatusOnCreate,
		Validate: validateDaemonSet, ValidateUpdate: validateImmutableSelector,
	}
}

func defaultDaemonSet(obj schema.Tree) {
	spec := rules.EnsureNested(obj, "spec")
	defaultTemplate(rules.EnsureNested(spec, "template"))
	if strategy := rules.EnsureNested(spec, "updateStrategy"); rules.String(strategy, "type") == "RollingUpdate" {
		rolling := rules.EnsureNested(strategy, "rollingUpdate")
		setIfAbsent(rolling, "maxUnavailable", int64(1))
		setIfAbsent(rolling, "maxSurge", int64(0))
	}
}

func validateDaemonSet(obj schema.Tree, faults *schema.Faults) {
	spec := rules.Nested(obj, "spec")
	selector, template := rules.Nested(spec, "selector"), rules.Nested(spec, "template")
	if selector != nil {
		workload{selectorKind: "daemonset"}.validateSelector(selector, faults)
	}
	validateSelectorMatchesTemplate(selector, template, "spec.template", faults)
	validateTemplate(template, "spec.template", nil, faults)
	validateLongRunningTemplate(template, "spec.template", "DaemonSet", faults)
	validateDaemonSetStrategy(rules.Nested(spec, "updateStrategy"), faults)
	validateNonNegative(spec, "spec", faults, "minReadySeconds", "revisionHistoryLimit")
	validateNonNegative(rules.Nested(obj, "status"), "status", faults,
		"currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady", "observedGeneration",
		"updatedNumberScheduled", "numberAvailable", "numberUnavailable", "collisionCount")
}

func validateDaemonSetStrategy(strategy schema.Tree, faults *schema.Faults) {
	const path = "spec.updateStrategy"
	switch rules.String(strategy, "type") {
	case "OnDelete":
	case "RollingUpdate":
		validateDaemonSetRollingUpdate(rules.Nested(strategy, "rollingUpdate"), path+".rollingUpdate", faults)
	default:
		faults.NotSupported(path, strategy, []string{"RollingUpdate", "OnDelete"})
	}
}

// validateDaemonSetRollingUpdate wants exactly one of two: a node without its Pod meanwhile, or a node
// with two.
func validateDaemonSetRollingUpdate(rolling schema.Tree, path string, faults *schema.Faults) {
	for _, name := range []string{"maxUnavailable", "maxSurge"} {
		validateIntOrPercent(rolling, name, path, true, faults)
	}
	surge := rolling["maxSurge"]
	switch fewer, more := !isZeroIntOrPercent(rolling["maxUnavailable"]), !isZeroIntOrPercent(surge); {
	case fewer && more:
		faults.Invalid(path+".maxSurge", surge, "may not be set when maxUnavailable is non-zero")
	case !fewer && !more:
		faults.Required(path+".maxUnavailable", "cannot be 0 when maxSurge is 0")
	}
}
