package catalog

import (
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// conversionsByKind lists the ways between the forms of kinds that share a storage, by
// "group/version/Kind" in platform form. The stored form needs none. message finds the
// plans of messages by name.
func conversionsByKind(n *meta.Naming, message func(string) *schema.Message) map[string]schema.Conversion {
	autoscaler := newAutoscalerAnnotations(n)
	return map[string]schema.Conversion{
		"autoscaling/v1/HorizontalPodAutoscaler":      autoscalerV1(autoscaler, message),
		"autoscaling/v2beta2/HorizontalPodAutoscaler": autoscalerV2beta2(autoscaler),
		"events.platform.io/v1/Event":                 eventConversion(),
	}
}
