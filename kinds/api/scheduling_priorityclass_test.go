package api_test

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
)

func TestPriorityClass(t *testing.T) {
	k := KindByGVK(t, meta.Platform, "scheduling.platform.io", "v1", "PriorityClass")
	for body, want := range map[string][]string{
		`{"value":1000000000}`: nil,
		`{"value":1000000001}`: {"value: Forbidden: maximum allowed value of a user defined priority is 1000000000"},
		`{"metadata":{"name":"system-node-critical"},"value":2000001000}`:                         nil,
		`{"metadata":{"name":"system-node-critical"},"value":1}`:                                  {"metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: value of system-node-critical PriorityClass must be 2000001000"},
		`{"metadata":{"name":"system-cluster-critical"},"value":2000000000}`:                      nil,
		`{"metadata":{"name":"system-cluster-critical"},"value":2000000000,"globalDefault":true}`: {"metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: globalDefault of system-cluster-critical PriorityClass must be false"},
		`{"metadata":{"name":"system-mine"},"value":1}`:                                           {"metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: system-mine is not a known system priority class"},
		`{"value":1,"preemptionPolicy":"Sometimes"}`:                                              {`preemptionPolicy: Unsupported value: "Sometimes": supported values: "PreemptLowerPriority", "Never"`},
	} {
		Expect(t, body, Create(k, Named(k, Parse(t, body))), want)
	}
	old := Named(k, Parse(t, `{"value":1}`))
	Create(k, old)
	EqualJSON(t, "default", old["preemptionPolicy"], `"PreemptLowerPriority"`)
	for body, want := range map[string][]string{
		`{"value":1,"description":"d","globalDefault":true}`: nil,
		`{"value":2}`:                            {"value: Forbidden: may not be changed in an update."},
		`{"value":1,"preemptionPolicy":"Never"}`: {`preemptionPolicy: Invalid value: "Never": field is immutable`},
	} {
		Expect(t, body, Update(k, Named(k, Parse(t, body)), old), want)
	}
}
