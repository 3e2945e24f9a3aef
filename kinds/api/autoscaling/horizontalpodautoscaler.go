package autoscaling

import (
	"github.com/troupe-api/troupe/kinds/api/internal/field"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// targetUtilization is the default CPU target, as a percentage of the Pods' requests.
const targetUtilization = 80

// autoscalerStrategy removes the annotations of older versions before storage. A v2 client may have
// copied them from a v1 object, and they would contradict the fields.
type autoscalerStrategy struct {
	schema.DefaultStrategy
	schema.DropStatusOnCreate
	names autoscalerAnnotations
}

func (s autoscalerStrategy) Prepare(obj, old tree.Tree) {
	s.DropStatusOnCreate.Prepare(obj, old)
	s.names.drop(obj)
}

// Default adds a CPU metric if there is none, and completes an existing behavior with the values
// that the controller uses if behavior is absent. Scaling down is delayed by five minutes and
// scaling up is not, because too few Pods are worse than too many.
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

// scalingPolicy returns a policy that limits the change per period. value is a number of Pods or a
// percentage of the current replicas.
func scalingPolicy(kind string, value, seconds int64) tree.Tree {
	return tree.Tree{"type": kind, "value": value, "periodSeconds": seconds}
}

// defaultScaling sets the defaults for one direction. window is in seconds.
func defaultScaling(scaling tree.Tree, window int64, policies ...any) {
	field.SetIfAbsent(scaling, "selectPolicy", "Max")
	field.SetIfAbsent(scaling, "stabilizationWindowSeconds", window)
	field.SetIfAbsent(scaling, "policies", policies)
}
