package catalog

import (
	"github.com/troupe-api/troupe/kinds/quantity"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// The bounds of scaling rules, in seconds.
const (
	maxPolicyPeriod        = 1800
	maxStabilizationWindow = 3600
)

// targetUtilization is how busy CPUs should be, in percent of what Pods ask for, where
// nothing else is said.
const targetUtilization = 80

func autoscalerRules(names autoscalerAnnotations) schema.Rules {
	return schema.Rules{
		Default: defaultAutoscaler,
		Prepare: func(obj, old schema.Tree) {
			dropStatusOnCreate(obj, old)
			names.drop(obj)
		},
		Validate: validateAutoscaler,
	}
}

// defaultAutoscaler watches the CPUs if nothing is watched, and completes the behaviour if
// there is one.
func defaultAutoscaler(obj schema.Tree) {
	spec := rules.EnsureNested(obj, "spec")
	if len(rules.Items(spec, "metrics")) == 0 {
		spec["metrics"] = []any{cpuMetric(targetUtilization)}
	}
	if behavior := rules.Nested(spec, "behavior"); behavior != nil {
		defaultScaling(rules.EnsureNested(behavior, "scaleUp"), 0, scalingPolicy("Pods", 4, 60), scalingPolicy("Percent", 100, 60))
		defaultScaling(rules.EnsureNested(behavior, "scaleDown"), 300, scalingPolicy("Percent", 100, 15))
	}
}

func cpuMetric(percent int64) schema.Tree {
	target := schema.Tree{"type": "Utilization", "averageUtilization": percent}
	return schema.Tree{"type": "Resource", "resource": schema.Tree{"name": "cpu", "target": target}}
}

func scalingPolicy(kind string, value, seconds int64) schema.Tree {
	return schema.Tree{"type": kind, "value": value, "periodSeconds": seconds}
}

// defaultScaling completes the rules of one direction. A list of policies that was given
// stays, even an empty one.
func defaultScaling(scaling schema.Tree, window int64, policies ...any) {
	setIfAbsent(scaling, "selectPolicy", "Max")
	setIfAbsent(scaling, "stabilizationWindowSeconds", window)
	setIfAbsent(scaling, "policies", policies)
}

func validateAutoscaler(obj schema.Tree, faults *schema.Faults) {
	spec := rules.Nested(obj, "spec")
	low, hasLow := rules.Int(spec, "minReplicas")
	high, _ := rules.Int(spec, "maxReplicas")
	if hasLow && low < 1 {
		faults.Invalid("spec.minReplicas", low, "must be greater than or equal to 1")
	}
	if high < 1 {
		faults.Invalid("spec.maxReplicas", high, "must be greater than 0")
	}
	if hasLow && high < low {
		faults.Invalid("spec.maxReplicas", high, "must be greater than or equal to `minReplicas`")
	}
	target := rules.Nested(spec, "scaleTargetRef")
	validateReference(target, "spec.scaleTargetRef", rules.String(target, "kind") == "ReplicationController", faults)
	validateMetrics(spec, hasLow && low == 0, faults)
	for _, name := range []string{"scaleUp", "scaleDown"} {
		validateScaling(rules.Nested(spec, "behavior", name), "spec.behavior."+name, faults)
	}
	validateNonNegative(rules.Nested(obj, "status"), "status", faults, "currentReplicas", "desiredReplicas")
}

// validateScaling checks the rules of one direction.
func validateScaling(scaling schema.Tree, path string, faults *schema.Faults) {
	if scaling == nil {
		return
	}
	switch n, _ := rules.Int(scaling, "stabilizationWindowSeconds"); {
	case n < 0:
		faults.Invalid(path+".stabilizationWindowSeconds", n, "must be greater than or equal to zero")
	case n > maxStabilizationWindow:
		faults.Invalid(path+".stabilizationWindowSeconds", n, "must be less than or equal to 3600")
	}
	validateEnum(scaling, "selectPolicy", path, faults, "Disabled", "Max", "Min")
	policies := rules.Trees(scaling, "policies")
	if len(policies) == 0 {
		faults.Required(path+".policies", "must specify at least one Policy")
	}
	for i, p := range policies {
		validateScalingPolicy(p, rules.IndexPath(path+".policies", i), faults)
	}
	if q := rules.String(scaling, "tolerance"); quantity.Compare(q, "0") < 0 && q != "" {
		faults.Invalid(path+".tolerance", q, nonNegativeMsg)
	}
}

func validateScalingPolicy(p schema.Tree, path string, faults *schema.Faults) {
	if kind := rules.String(p, "type"); kind != "Percent" && kind != "Pods" {
		faults.NotSupported(path+".type", kind, []string{"Percent", "Pods"})
	}
	for _, name := range []string{"value", "periodSeconds"} {
		if n, _ := rules.Int(p, name); n <= 0 {
			faults.Invalid(rules.FieldPath(path, name), n, "must be greater than zero")
		}
	}
	if n, _ := rules.Int(p, "periodSeconds"); n > maxPolicyPeriod {
		faults.Invalid(path+".periodSeconds", n, "must be less than or equal to 1800")
	}
}
