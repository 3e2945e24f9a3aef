package autoscaling

import (
	"strconv"

	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/quantity"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// The bounds of scaling rules, in seconds. A longer period would need more history of recommendations than
// the controller keeps, which it holds in memory.
const (
	maxPolicyPeriod        = 1800
	maxStabilizationWindow = 3600
)

// targetUtilization is the default CPU target, in percent of the requests of Pods.
const targetUtilization = 80

// autoscalerStrategy drops the annotations of older versions from stored objects: a client that
// sends v2 may have copied them from a v1 body, and they would contradict the fields.
type autoscalerStrategy struct {
	schema.DefaultStrategy
	family.DropStatusOnCreate
	names autoscalerAnnotations
	least int64 // replicas
}

func (s autoscalerStrategy) Prepare(obj, old tree.Tree) {
	s.DropStatusOnCreate.Prepare(obj, old)
	s.names.drop(obj)
}

// Default adds a CPU metric if there is no metric, and fills in the behavior if there is one. The
// defaults of the behavior are applied here only where the user has begun to write one, and the
// controller assumes the same for an absent one. Scaling down waits five minutes by default,
// scaling up does not, because too few Pods hurt more than too many.
func (autoscalerStrategy) Default(obj tree.Tree) {
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

// scalingPolicy allows a change by value, in Pods or percent of the current replicas, within seconds.
func scalingPolicy(kind string, value, seconds int64) tree.Tree {
	return tree.Tree{"type": kind, "value": value, "periodSeconds": seconds}
}

// defaultScaling fills in the scaling rules of one direction. A list of policies that is present is kept,
// even an empty one. An empty list disables nothing by itself; selectPolicy "Disabled" does.
func defaultScaling(scaling tree.Tree, window int64, policies ...any) {
	field.SetIfAbsent(scaling, "selectPolicy", "Max")
	field.SetIfAbsent(scaling, "stabilizationWindowSeconds", window)
	field.SetIfAbsent(scaling, "policies", policies)
}

// validateMetricStatuses wants the type of what is said of a metric. One of which nothing is said is let pass: the public
// controller writes that for a metric that it could not read.
func validateMetricStatuses(all []tree.Tree, faults *schema.Faults) {
	for i, m := range all {
		said := len(m)
		if m.Has("type") {
			said--
		}
		if said > 0 && m.String("type") == "" {
			faults.Required(tree.IndexPath("status.currentMetrics", i) + ".type")
		}
	}
}

func (s autoscalerStrategy) Validate(obj, _ tree.Tree, faults *schema.Faults) {
	validateMetricStatuses(obj.Object("status").Objects("currentMetrics"), faults)
	spec := obj.Object("spec")
	low, hasLow := spec.Int("minReplicas")
	high, _ := spec.Int("maxReplicas")
	if hasLow && low < s.least {
		faults.Invalid("spec.minReplicas", low, "must be greater than or equal to "+strconv.FormatInt(s.least, 10))
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
	for i, p := range scaling.Objects("policies") {
		validateScalingPolicy(p, tree.IndexPath(path+".policies", i), faults)
	}
	if q := scaling.String("tolerance"); quantity.Compare(q, "0") < 0 && q != "" {
		faults.Invalid(path+".tolerance", q, field.NonNegativeMsg)
	}
}

// Both numbers are required by their bound: they have no default, and zero would forbid scaling in an
// unclear way.
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
