package autoscaling

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// Kinds lists the kinds of autoscaling with their functions. message finds the plan of a message by
// its name; toZero lets autoscalers scale to no Pods.
func Kinds(n *meta.Naming, message func(name string) *schema.Message, toZero bool) []family.Kind {
	annotations := newAutoscalerAnnotations(n)
	return []family.Kind{
		{Name: "autoscaling/v1/HorizontalPodAutoscaler", Conversion: autoscalerV1(annotations, message)},
		{Name: "autoscaling/v2/HorizontalPodAutoscaler", Rules: autoscalerRules(annotations, toZero)},
		{Name: "autoscaling/v2beta2/HorizontalPodAutoscaler", Conversion: autoscalerV2beta2(annotations)},
	}
}
