package autoscaling

import (
	"strconv"

	"github.com/troupe-api/troupe/kinds/api/internal/resourcelist"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// Kinds returns the group's kinds with their strategies. message looks up a Declaration by name.
func Kinds(n *meta.Naming, message func(name string) *schema.Declaration) []schema.Behavior {
	annotations := newAutoscalerAnnotations(n)
	return []schema.Behavior{
		{Name: "autoscaling/v1/HorizontalPodAutoscaler", Strategy: newAutoscalerV1Strategy(annotations, message)},
		{Name: "autoscaling/v2/HorizontalPodAutoscaler", Strategy: autoscalerStrategy{names: annotations}},
		{Name: "autoscaling/v2beta2/HorizontalPodAutoscaler", Strategy: autoscalerV2beta2Strategy{names: annotations}},
	}
}

// RuleFunctions returns the functions that declarative rules call by name. If toZero
// is set, minReplicas may be 0.
func RuleFunctions(toZero bool) map[string]schema.CheckFunc {
	return map[string]schema.CheckFunc{
		"containerResourceName": schema.TextCheck(resourcelist.ValidateContainerName),
		"minReplicas": func(v any, path string, faults *schema.Faults) {
			if least := int64(1); v.(int64) < 0 || v.(int64) < least && !toZero {
				if toZero {
					least = 0
				}
				faults.Invalid(path, v, "must be greater than or equal to "+strconv.FormatInt(least, 10))
			}
		},
	}
}
