package api_test

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
)

func TestDisruptionBudget(t *testing.T) {
	k := KindByGVK(t, meta.Platform, "policy", "v1", "PodDisruptionBudget")
	RunCreateCases(t, k, `"selector":{"matchLabels":{"a":"b"}}`, []CreateCase{
		{Name: "complete", Spec: `"minAvailable":"50%"`, Want: nil},
		{Name: "nothing", Spec: `"selector":null`, Want: nil},
		{Name: "both", Spec: `"minAvailable":1,"maxUnavailable":1`, Want: []string{`spec: Invalid value: {"maxUnavailable":1,"minAvailable":1,"selector":{"matchLabels":{"a":"b"}}}: minAvailable and maxUnavailable cannot be both set`}},
		{Name: "above", Spec: `"minAvailable":"101%"`, Want: []string{`spec.minAvailable: Invalid value: "101%": must not be greater than 100%`}},
		{Name: "negative", Spec: `"maxUnavailable":-1`, Want: []string{"spec.maxUnavailable: Invalid value: -1: must be greater than or equal to 0"}},
		{Name: "no percentage", Spec: `"maxUnavailable":"x"`, Want: []string{`spec.maxUnavailable: Invalid value: "x": a valid percent string…`}},
		{Name: "selector", Spec: `"selector":{"matchLabels":{"a":"-"}}`, Want: []string{`spec.selector.matchLabels: Invalid value: "-"…`}},
		{Name: "eviction", Spec: `"unhealthyPodEvictionPolicy":"Never"`, Want: []string{`spec.unhealthyPodEvictionPolicy: Unsupported value: "Never": supported values: "AlwaysAllow", "IfHealthyBudget"`}},
	})
	RunValidationCases(t, k, []ValidationCase{
		{Obj: `{"metadata":{"name":"Any_name b"},"spec":{}}`},
		{Obj: `{"metadata":{"name":"a/b"},"spec":{}}`, Want: []string{`metadata.name: Invalid value: "a/b": may not contain '/'`}},
	})
	obj := Named(k, Parse(t, `{"spec":{},"status":{"expectedPods":3}}`))
	Expect(t, "status", Create(k, obj), nil)
	if obj.Has("status") {
		t.Error("a create keeps the status of the client")
	}
	obj["status"] = Parse(t, `{"disruptionsAllowed":-1,"currentHealthy":-1,"desiredHealthy":-1,"expectedPods":-1,"conditions":[{"type":"DisruptionAllowed","status":"Maybe","reason":"R","lastTransitionTime":"2026-01-01T00:00:00Z"}]}`)
	Expect(t, "status", Lines(rules.Validate(k, obj)), []string{`status.conditions[0].status: Unsupported value: "Maybe": supported values: "False", "True", "Unknown"`,
		"status.disruptionsAllowed: Invalid value: -1: must be greater than or equal to 0", "status.currentHealthy: Invalid value: -1: must be greater than or equal to 0",
		"status.desiredHealthy: Invalid value: -1: must be greater than or equal to 0", "status.expectedPods: Invalid value: -1: must be greater than or equal to 0"})
}
