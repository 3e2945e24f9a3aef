package catalog_test

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
)

func TestDisruptionBudget(t *testing.T) {
	k := kindByGVK(t, meta.Platform, "policy", "v1", "PodDisruptionBudget")
	runCreateCases(t, k, `"selector":{"matchLabels":{"a":"b"}}`, []createCase{
		{"complete", `"minAvailable":"50%"`, nil},
		{"nothing", `"selector":null`, nil},
		{"both", `"minAvailable":1,"maxUnavailable":1`, []string{`spec: Invalid value: {"maxUnavailable":1,"minAvailable":1,"selector":{"matchLabels":{"a":"b"}}}: minAvailable and maxUnavailable cannot be both set`}},
		{"above", `"minAvailable":"101%"`, []string{`spec.minAvailable: Invalid value: "101%": must not be greater than 100%`}},
		{"negative", `"maxUnavailable":-1`, []string{"spec.maxUnavailable: Invalid value: -1: must be greater than or equal to 0"}},
		{"no percentage", `"maxUnavailable":"x"`, []string{`spec.maxUnavailable: Invalid value: "x": a valid percent string…`}},
		{"selector", `"selector":{"matchLabels":{"a":"-"}}`, []string{`spec.selector.matchLabels: Invalid value: "-"…`}},
		{"eviction", `"unhealthyPodEvictionPolicy":"Never"`, []string{`spec.unhealthyPodEvictionPolicy: Unsupported value: "Never": supported values: "AlwaysAllow", "IfHealthyBudget"`}},
	})
	obj := named(k, parseTree(t, `{"spec":{},"status":{"expectedPods":3}}`))
	expect(t, "status", create(k, obj), nil)
	if obj.Has("status") {
		t.Error("a create keeps the status of the client")
	}
	obj["status"] = parseTree(t, `{"disruptionsAllowed":-1,"currentHealthy":-1,"desiredHealthy":-1,"expectedPods":-1,"conditions":[{"type":"DisruptionAllowed","status":"Maybe","reason":"R","lastTransitionTime":"2026-01-01T00:00:00Z"}]}`)
	expect(t, "status", lines(rules.Validate(k, obj)), []string{`status.conditions[0].status: Unsupported value: "Maybe": supported values: "False", "True", "Unknown"`,
		"status.disruptionsAllowed: Invalid value: -1: must be greater than or equal to 0", "status.currentHealthy: Invalid value: -1: must be greater than or equal to 0",
		"status.desiredHealthy: Invalid value: -1: must be greater than or equal to 0", "status.expectedPods: Invalid value: -1: must be greater than or equal to 0"})
}

func TestPriorityClass(t *testing.T) {
	k := kindByGVK(t, meta.Platform, "scheduling.platform.io", "v1", "PriorityClass")
	for body, want := range map[string][]string{
		`{"value":1000000000}`: nil,
		`{"value":1000000001}`: {"value: Forbidden: maximum allowed value of a user defined priority is 1000000000"},
		`{"metadata":{"name":"system-node-critical"},"value":2000001000}`:                         nil,
		`{"metadata":{"name":"system-node-critical"},"value":1}`:                                  {"metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: value of system-node-critical PriorityClass must be 2000001000"},
		`{"metadata":{"name":"system-cluster-critical"},"value":2000000000}`:                      nil,
		`{"metadata":{"name":"system-cluster-critical"},"value":2000000000,"globalDefault":true}`: {"metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: globalDefault of system-cluster-critical PriorityClass must be false"},
		`{"metadata":{"name":"system-mine"},"value":1}`:                                           {"metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: system-mine is not a known system priority class"},
		`{"value":1,"preemptionPolicy":"Sometimes"}`:                                              {`preemptionPolicy: Unsupported value: "Sometimes": supported values: "Never", "PreemptLowerPriority"`},
	} {
		expect(t, body, create(k, named(k, parseTree(t, body))), want)
	}
	old := named(k, parseTree(t, `{"value":1}`))
	create(k, old)
	equalJSON(t, "default", old["preemptionPolicy"], `"PreemptLowerPriority"`)
	for body, want := range map[string][]string{
		`{"value":1,"description":"d","globalDefault":true}`: nil,
		`{"value":2}`:                            {"value: Forbidden: may not be changed in an update."},
		`{"value":1,"preemptionPolicy":"Never"}`: {`preemptionPolicy: Invalid value: "Never": field is immutable`},
	} {
		expect(t, body, update(k, named(k, parseTree(t, body)), old), want)
	}
}

func TestLease(t *testing.T) {
	runCreateCases(t, kindByGVK(t, meta.Platform, "coordination.platform.io", "v1", "Lease"), ``, []createCase{
		{"complete", `"holderIdentity":"h","leaseDurationSeconds":1,"leaseTransitions":0,"strategy":"OldestEmulationVersion","preferredHolder":"i"`, nil},
		{"own strategy", `"strategy":"acme.io/oldest"`, nil},
		{"numbers", `"leaseDurationSeconds":0,"leaseTransitions":-1`, []string{"spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0", "spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0"}},
		{"strategy", `"strategy":"Newest"`, []string{`spec.strategy: Unsupported value: "Newest": supported values: "OldestEmulationVersion"`}},
		{"holder", `"preferredHolder":"i"`, []string{"spec.preferredHolder: Forbidden: may only be specified if `strategy` is defined"}},
	})
}

func TestRuntimeClass(t *testing.T) {
	k := kindByGVK(t, meta.Platform, "node.platform.io", "v1", "RuntimeClass")
	for body, want := range map[string][]string{
		`{"handler":"runc","overhead":{"podFixed":{"cpu":"1m"}},"scheduling":{"nodeSelector":{"a":"b"},"tolerations":[{"key":"a","operator":"Exists"}]}}`: nil,
		`{}`:              {`handler: Invalid value: "": a lowercase RFC 1123 label…`},
		`{"handler":"A"}`: {`handler: Invalid value: "A": a lowercase RFC 1123 label…`},
		`{"handler":"r","overhead":{"podFixed":{"cpu":"-1"}}}`:                                                           {`overhead.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0`},
		`{"handler":"r","scheduling":{"nodeSelector":{"a":"-"}}}`:                                                        {`scheduling.nodeSelector: Invalid value: "-"…`},
		`{"handler":"r","scheduling":{"tolerations":[{"key":"a","operator":"Exists"},{"key":"a","operator":"Exists"}]}}`: {`scheduling.tolerations[1]: Duplicate value: {"key":"a","operator":"Exists"}`},
	} {
		expect(t, body, create(k, named(k, parseTree(t, body))), want)
	}
	old := named(k, parseTree(t, `{"handler":"a"}`))
	expect(t, "handler", update(k, named(k, parseTree(t, `{"handler":"b"}`)), old), []string{`handler: Invalid value: "b": field is immutable`})
}
