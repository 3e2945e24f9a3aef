package catalog

import (
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

func daemonSetRules() schema.Rules {
	return schema.Rules{
		Default: defaultDaemonSet, Prepare: startEmpty,
		Validate: validateDaemonSet, ValidateUpdate: keepSelector,
	}
}

func defaultDaemonSet(obj schema.Tree) {
	spec := rules.Grow(obj, "spec")
	defaultTemplate(rules.Grow(spec, "template"))
	if strategy := rules.Grow(spec, "updateStrategy"); rules.Text(strategy, "type") == "RollingUpdate" {
		rolling := rules.Grow(strategy, "rollingUpdate")
		setAbsent(rolling, "maxUnavailable", int64(1))
		setAbsent(rolling, "maxSurge", int64(0))
	}
}

func validateDaemonSet(obj schema.Tree, faults *schema.Faults) {
	spec := rules.Sub(obj, "spec")
	selector, template := rules.Sub(spec, "selector"), rules.Sub(spec, "template")
	if selector != nil {
		workload{lower: "daemonset"}.validateSelector(selector, faults)
	}
	validateSelected(selector, template, "spec.template", faults)
	validateTemplate(template, "spec.template", nil, faults)
	validateEndless(template, "spec.template", "DaemonSet", faults)
	validateDaemonStrategy(rules.Sub(spec, "updateStrategy"), faults)
	notNegative(spec, "spec", faults, "minReadySeconds", "revisionHistoryLimit")
	notNegative(rules.Sub(obj, "status"), "status", faults,
		"currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady", "observedGeneration",
		"updatedNumberScheduled", "numberAvailable", "numberUnavailable", "collisionCount")
}

func validateDaemonStrategy(strategy schema.Tree, faults *schema.Faults) {
	const path = "spec.updateStrategy"
	switch rules.Text(strategy, "type") {
	case "OnDelete":
	case "RollingUpdate":
		validateDaemonPace(rules.Sub(strategy, "rollingUpdate"), path+".rollingUpdate", faults)
	default:
		faults.NotSupported(path, strategy, []string{"RollingUpdate", "OnDelete"})
	}
}

// validateDaemonPace wants exactly one of two: a node without its Pod meanwhile, or a node
// with two.
func validateDaemonPace(rolling schema.Tree, path string, faults *schema.Faults) {
	for _, name := range []string{"maxUnavailable", "maxSurge"} {
		validateShare(rolling, name, path, true, faults)
	}
	surge := rolling["maxSurge"]
	switch fewer, more := !noShare(rolling["maxUnavailable"]), !noShare(surge); {
	case fewer && more:
		faults.Invalid(path+".maxSurge", surge, "may not be set when maxUnavailable is non-zero")
	case !fewer && !more:
		faults.Required(path+".maxUnavailable", "cannot be 0 when maxSurge is 0")
	}
}
