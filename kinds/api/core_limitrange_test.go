package api_test

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
)

func TestLimitRange(t *testing.T) {
	k := CoreKind(t, meta.Platform, "LimitRange")
	limits := func(items string) string { return `{"spec":{"limits":[` + items + `]}}` }
	EqualJSON(t, "defaults", Defaulted(t, k, limits(`{"type":"Container","max":{"cpu":"2"},"min":{"cpu":"1","memory":"1Mi"}},{"type":"Pod","max":{"cpu":"2"}}`)),
		limits(`{"type":"Container","max":{"cpu":"2"},"min":{"cpu":"1","memory":"1Mi"},"default":{"cpu":"2"},"defaultRequest":{"cpu":"2","memory":"1Mi"}},{"type":"Pod","max":{"cpu":"2"}}`))
	const at = "spec.limits[0]"
	RunBodyCases(t, k, []BodyCase{
		{Body: limits(`{"type":"PersistentVolumeClaim","max":{"storage":"1Gi"}},{"type":"a.b/Thing","min":{"pods":"1"}}`), Want: nil},
		{Body: limits(`{"type":"Thing"},{"type":"Pod"},{"type":"Pod"}`), Want: []string{at + `.type: Invalid value: "Thing": must be a standard limit type or fully qualified`, `spec.limits[2].type: Duplicate value: "Pod"`}},
		{Body: limits(`{"type":"a b"}`), Want: []string{at + `.type: Invalid value: "a b": name part…`}},
		{Body: limits(`{"type":"Pod","default":{"cpu":"1"},"defaultRequest":{"cpu":"1"}}`), Want: []string{"spec.limits[0].default: Forbidden: may not be specified when `type` is 'Pod'",
			"spec.limits[0].defaultRequest: Forbidden: may not be specified when `type` is 'Pod'"}},
		{Body: limits(`{"type":"PersistentVolumeClaim"}`), Want: []string{at + `.limits: Required value: either minimum or maximum storage value is required, but neither was provided`}},
		{Body: limits(`{"type":"Pod","max":{"storage":"1"},"min":{"gold":"1"}}`), Want: []string{at + `.max[storage]: Invalid value: "storage": must be a standard resource for containers`,
			at + `.min[gold]: Invalid value: "gold": must be a standard resource type or fully qualified`, at + `.min[gold]: Invalid value: "gold": must be a standard resource for containers`}},
		{Body: limits(`{"type":"Pod","max":{"cpu":"1"},"min":{"cpu":"2"}}`), Want: []string{at + `.min[cpu]: Invalid value: "2": min value 2 is greater than max value 1`}},
		{Body: limits(`{"type":"Container","max":{"cpu":"3"},"min":{"cpu":"2"},"default":{"cpu":"4"},"defaultRequest":{"cpu":"1"}}`), Want: []string{
			at + `.defaultRequest[cpu]: Invalid value: "1": min value 2 is greater than default request value 1`, at + `.default[cpu]: Invalid value: "3": default value 4 is greater than max value 3`}},
		{Body: limits(`{"type":"Container","max":{"cpu":"3"},"min":{"cpu":"2"},"default":{"cpu":"1"},"defaultRequest":{"cpu":"4"}}`), Want: []string{
			at + `.defaultRequest[cpu]: Invalid value: "4": default request value 4 is greater than max value 3`, at + `.defaultRequest[cpu]: Invalid value: "4": default request value 4 is greater than default limit value 1`,
			at + `.default[cpu]: Invalid value: "2": min value 2 is greater than default value 1`}},
		{Body: limits(`{"type":"Pod","maxLimitRequestRatio":{"cpu":"500m"}}`), Want: []string{at + `.maxLimitRequestRatio[cpu]: Invalid value: "500m": ratio 500m is less than 1`}},
		{Body: limits(`{"type":"Pod","max":{"cpu":"3"},"min":{"cpu":"2"},"maxLimitRequestRatio":{"cpu":"2"}}`), Want: []string{at + `.maxLimitRequestRatio[cpu]: Invalid value: "2": ratio 2 is greater than max/min = 1.500000`}},
		{Body: limits(`{"type":"Container","default":{"hugepages-2Mi":"4Mi"},"defaultRequest":{"hugepages-2Mi":"2Mi"}}`), Want: []string{
			at + `.defaultRequest[hugepages-2Mi]: Invalid value: "2Mi": default value 4Mi must equal to defaultRequest value 2Mi in hugepages-2Mi`}},
	})
}
