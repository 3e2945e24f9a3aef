package api_test

import (
	"testing"
)

func TestAutoscalingValidObjects(t *testing.T) {
	ExpectValid(t, "autoscaling", "v2", "HorizontalPodAutoscaler", `{"spec":{`+autoscaled+`,"minReplicas":3}}`, `{"spec":{`+autoscaled+`,"minReplicas":1,"maxReplicas":1}}`,
		`{"spec":{`+autoscaled+`,"metrics":[{"type":"ContainerResource","containerResource":{"name":"cpu","container":"c","target":{"type":"AverageValue","averageValue":"1"}}},
			{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":1}}},{"type":"Pods","pods":{"metric":{"name":"m"},"target":{"type":"AverageValue","averageValue":"1"}}}]}}`)
}
