package catalog_test

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/catalog/internal/catalogtest"
	"github.com/troupe-api/troupe/kinds/meta"
)

func TestMetricValidation(t *testing.T) {
	k := catalogtest.KindByGVK(t, meta.Platform, "autoscaling", "v2", "HorizontalPodAutoscaler")
	catalogtest.RunCreateCases(t, k, `"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"d"},"maxReplicas":3`, []catalogtest.CreateCase{
		{Name: "pods", Spec: `"metrics":[{"type":"Pods","pods":{"metric":{"name":"a/b"},"target":{"type":"AverageValue","averageValue":"1"}}}]`, Want: []string{
			`spec.metrics[0].pods.metric.name: Invalid value: "a/b": may not contain '/'`}},
	})
}
