package api_test

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
)

func TestMetricValidation(t *testing.T) {
	k := KindByGVK(t, meta.Platform, "autoscaling", "v2", "HorizontalPodAutoscaler")
	RunCreateCases(t, k, `"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"d"},"maxReplicas":3`, []CreateCase{
		{Name: "pods", Spec: `"metrics":[{"type":"Pods","pods":{"metric":{"name":"a/b"},"target":{"type":"AverageValue","averageValue":"1"}}}]`, Want: []string{
			`spec.metrics[0].pods.metric.name: Invalid value: "a/b": may not contain '/'`}},
	})
}
