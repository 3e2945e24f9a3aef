package autoscaling

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/internal/quantity"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// The bounds of scaling rules, in seconds.
const (
	maxPolicyPeriod        = 1800
	maxStabilizationWindow = 3600
)

// targetUtilization is the default CPU target, in percent of the requests of Pods.
const targetUtilization = 80

func autoscalerRules(names autoscalerAnnotations) schema.Rules {
	return schema.Rules{
		Default: defaultAutoscaler,
		Prepare: func(obj, old tree.Tree) {
			family.DropStatusOnCreate(obj, old)
			names.drop(obj)
		},
		Validate: validateAutoscaler,
	}
}

// defaultAutoscaler adds a CPU metric if there is no metric, and fills in the behavior if there is one.
func defaultAutoscaler(obj tree.Tree) {
	spec := obj.EnsureObject("spec")
	if len(spec.List("metrics")) == 0 {
		spec["metrics"] = []any{cpuMetric(targetUtilization)}
	}
	if behavior := spec.Object("behavior"); behavior != nil {
		defaultScaling(behavior.EnsureObject("scaleUp"), 0, scalingPolicy("Pods", 4, 60), scalingPolicy("Percent", 100, 60))
		defaultScaling(behavior.EnsureObject("scaleDown"), 300, scalingPolicy("Percent", 100, 15))
	}
}

func cpuMetric(percent int64) tree.Tree {
	target := tree.Tree{"type": "Utilization", "averageUtilization": percent}
	return tree.Tree{"type": "Resource", "resource": tree.Tree{"name": "cpu", "target": target}}
}

func scalingPolicy(kind string, value, seconds int64) tree.Tree {
	return tree.Tree{"type": kind, "value": value, "periodSeconds": seconds}
}

// defaultScaling fills in the scaling rules of one direction. A list of policies that is present is
// kept, even an empty one.
func defaultScaling(scaling tree.Tree, window int64, policies ...any) {
	field.SetIfAbsent(scaling, "selectPolicy", "Max")
	field.SetIfAbsent(scaling, "stabilizationWindowSeconds", window)
	field.SetIfAbsent(scaling, "policies", policies)
}

func validateAutoscaler(obj tree.Tree, faults *schema.Faults) {
	spec := obj.Object("spec")
	low, hasLow := spec.Int("minReplicas")
	high, _ := spec.Int("maxReplicas")
	if hasLow && low < 1 {
		faults.Invalid("spec.minReplicas", low, "must be greater than or equal to 1")
	}
	if high < 1 {
		faults.Invalid("spec.maxReplicas", high, "must be greater than 0")
	}
	if hasLow && high < low {
		faults.Invalid("spec.maxReplicas", high, "must be greater than or equal to `minReplicas`")
	}
	target := spec.Object("scaleTargetRef")
	validateReference(target, "spec.scaleTargetRef", target.String("kind") == "ReplicationController", faults)
	validateMetrics(spec, hasLow && low == 0, faults)
	for _, name := range []string{"scaleUp", "scaleDown"} {
		validateScaling(spec.Object("behavior", name), "spec.behavior."+name, faults)
	}
	field.NonNegative(obj.Object("status"), "status", faults, "currentReplicas", "desiredReplicas")
}

// validateScaling checks the scaling rules of one direction.
func validateScaling(scaling tree.Tree, path string, faults *schema.Faults) {
	if scaling == nil {
		return
	}
	switch n, _ := scaling.Int("stabilizationWindowSeconds"); {
	case n < 0:
		faults.Invalid(path+".stabilizationWindowSeconds", n, "must be greater than or equal to zero")
	case n > maxStabilizationWindow:
		faults.Invalid(path+".stabilizationWindowSeconds", n, "must be less than or equal to 3600")
	}
	field.Enum(scaling, "selectPolicy", path, faults, "Disabled", "Max", "Min")
	policies := scaling.Objects("policies")
	if len(policies) == 0 {
		faults.Required(path+".policies", "must specify at least one Policy")
	}
	for i, p := range policies {
		validateScalingPolicy(p, tree.IndexPath(path+".policies", i), faults)
	}
	if q := scaling.String("tolerance"); quantity.Compare(q, "0") < 0 && q != "" {
		faults.Invalid(path+".tolerance", q, field.NonNegativeMsg)
	}
}

func validateScalingPolicy(p tree.Tree, path string, faults *schema.Faults) {
	if kind := p.String("type"); kind != "Percent" && kind != "Pods" {
		faults.NotSupported(path+".type", kind, []string{"Percent", "Pods"})
	}
	for _, name := range []string{"value", "periodSeconds"} {
		if n, _ := p.Int(name); n <= 0 {
			faults.Invalid(tree.FieldPath(path, name), n, "must be greater than zero")
		}
	}
	if n, _ := p.Int("periodSeconds"); n > maxPolicyPeriod {
		faults.Invalid(path+".periodSeconds", n, "must be less than or equal to 1800")
	}
}
