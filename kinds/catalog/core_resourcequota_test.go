package catalog_test

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
)

func TestResourceQuota(t *testing.T) {
	k := coreKind(t, meta.Kubernetes, "ResourceQuota")
	runBodyCases(t, k, []bodyCase{
		{`{"spec":{"hard":{"cpu":"1","requests.memory":"1Gi","pods":"4","count/deployments.apps":"2","gold.storageclass.storage.k8s.io/requests.storage":"1Gi","requests.storage":"9Gi","requests.nvidia.com/gpu":"4"}}}`, nil},
		{`{"spec":{"hard":{"gold":"1","a b":"1","storage":"1","pods":"1500m","cpu":"-1"}}}`, []string{
			`spec.hard[a b]: Invalid value: "a b": name part…`, `spec.hard[a b]: Invalid value: "a b": must be a standard resource for quota`,
			`spec.hard[cpu]: Invalid value: "-1": must be greater than or equal to 0`,
			`spec.hard[gold]: Invalid value: "gold": must be a standard resource type or fully qualified`, `spec.hard[gold]: Invalid value: "gold": must be a standard resource for quota`,
			`spec.hard[pods]: Invalid value: "1500m": must be an integer`, `spec.hard[storage]: Invalid value: "storage": must be a standard resource for quota`}},
		{`{"spec":{"hard":{"pods":"1"},"scopes":["BestEffort","NotTerminating"]}}`, nil},
		{`{"spec":{"hard":{"cpu":"1"},"scopes":["BestEffort"]}}`, []string{`spec.scopes: Invalid value: ["BestEffort"]: unsupported scope applied to resource`}},
		{`{"spec":{"hard":{"secrets":"1"},"scopes":["Terminating"]}}`, []string{`spec.scopes: Invalid value: ["Terminating"]: unsupported scope applied to resource`}},
		{`{"spec":{"hard":{"pods":"1"},"scopes":["Odd"]}}`, []string{`spec.scopes: Invalid value: ["Odd"]: unsupported scope`}},
		{`{"spec":{"hard":{"pods":"1"},"scopes":["Terminating","NotTerminating"]}}`, []string{`spec.scopes: Invalid value: ["Terminating","NotTerminating"]: conflicting scopes`}},
		{`{"spec":{"hard":{"pods":"1"},"scopeSelector":{"matchExpressions":[{"scopeName":"PriorityClass","operator":"In","values":["a"]},{"scopeName":"Terminating","operator":"Exists"}]}}}`, nil},
		{`{"spec":{"hard":{"pods":"1"},"scopeSelector":{"matchExpressions":[{"scopeName":"PriorityClass","operator":"In"}]}}}`, []string{
			"spec.scopeSelector.matchExpressions.values: Required value: must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"}},
		{`{"spec":{"hard":{"pods":"1"},"scopeSelector":{"matchExpressions":[{"scopeName":"PriorityClass","operator":"Exists","values":["a"]}]}}}`, []string{
			"spec.scopeSelector.matchExpressions.values: Invalid value: [\"a\"]: must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"}},
		{`{"spec":{"hard":{"pods":"1"},"scopeSelector":{"matchExpressions":[{"scopeName":"Terminating","operator":"In","values":["a"]},{"scopeName":"Odd","operator":"Exists"}]}}}`, []string{
			`spec.scopeSelector.matchExpressions.operator: Invalid value: "In": must be 'Exist' when scope is any of…`,
			`spec.scopeSelector.matchExpressions.scopeName: Invalid value: "Odd": unsupported scope`}},
	})
	runUpdateCases(t, k, []updateCase{
		{`{"spec":{"hard":{"pods":"1"},"scopes":["BestEffort","Terminating"]}}`, `{"spec":{"hard":{"pods":"2"},"scopes":["Terminating","BestEffort"]}}`, nil},
		{`{"spec":{"hard":{"pods":"1"},"scopes":["BestEffort"]}}`, `{"spec":{"hard":{"pods":"1"}}}`, []string{`spec.scopes: Invalid value: null: field is immutable`}},
	})
	status := named(k, parseTree(t, `{"spec":{},"status":{"hard":{"gold":"1"},"used":{"pods":"-1"}}}`))
	expect(t, "status", lines(rules.Validate(k, status)), []string{
		`status.hard[gold]: Invalid value: "gold": must be a standard resource type or fully qualified`, `status.hard[gold]: Invalid value: "gold": must be a standard resource for quota`,
		`status.used[pods]: Invalid value: "-1": must be greater than or equal to 0`})
}
