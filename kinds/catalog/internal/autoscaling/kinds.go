package autoscaling

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// Kinds lists the kinds of autoscaling with their strategies. message finds the plan of a message
// by its name; toZero lets autoscalers scale to no Pods.
func Kinds(n *meta.Naming, message func(name string) *schema.Message, toZero bool) []family.Kind {
	annotations, least := newAutoscalerAnnotations(n), int64(1)
	if toZero {
		least = 0
	}
	return []family.Kind{
		{Name: "autoscaling/v1/HorizontalPodAutoscaler", Strategy: newAutoscalerV1Strategy(annotations, message)},
		{Name: "autoscaling/v2/HorizontalPodAutoscaler", Strategy: autoscalerStrategy{names: annotations, least: least}},
		{Name: "autoscaling/v2beta2/HorizontalPodAutoscaler", Strategy: autoscalerV2beta2Strategy{names: annotations}},
	}
}
