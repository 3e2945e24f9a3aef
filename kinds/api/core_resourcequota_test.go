package api_test

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
)

func TestResourceQuota(t *testing.T) {
	k := CoreKind(t, meta.Kubernetes, "ResourceQuota")
	RunBodyCases(t, k, []BodyCase{
		{Body: `{"spec":{"hard":{"cpu":"1","requests.memory":"1Gi","pods":"4","count/deployments.apps":"2","gold.storageclass.storage.k8s.io/requests.storage":"1Gi","requests.storage":"9Gi","requests.nvidia.com/gpu":"4"}}}`, Want: nil},
		{Body: `{"spec":{"hard":{"gold":"1","a b":"1","storage":"1","pods":"1500m","cpu":"-1"}}}`, Want: []string{
			`spec.hard[a b]: Invalid value: "a b": name part…`, `spec.hard[a b]: Invalid value: "a b": must be a standard resource for quota`,
			`spec.hard[cpu]: Invalid value: "-1": must be greater than or equal to 0`,
			`spec.hard[gold]: Invalid value: "gold": must be a standard resource type or fully qualified`, `spec.hard[gold]: Invalid value: "gold": must be a standard resource for quota`,
			`spec.hard[pods]: Invalid value: "1500m": must be an integer`, `spec.hard[storage]: Invalid value: "storage": must be a standard resource for quota`}},
		{Body: `{"spec":{"hard":{"pods":"1"},"scopes":["BestEffort","NotTerminating"]}}`, Want: nil},
		{Body: `{"spec":{"hard":{"cpu":"1"},"scopes":["BestEffort"]}}`, Want: []string{`spec.scopes: Invalid value: ["BestEffort"]: unsupported scope applied to resource`}},
		{Body: `{"spec":{"hard":{"secrets":"1"},"scopes":["Terminating"]}}`, Want: []string{`spec.scopes: Invalid value: ["Terminating"]: unsupported scope applied to resource`}},
		{Body: `{"spec":{"hard":{"pods":"1"},"scopes":["Odd"]}}`, Want: []string{`spec.scopes: Invalid value: ["Odd"]: unsupported scope`}},
		{Body: `{"spec":{"hard":{"pods":"1"},"scopes":["Terminating","NotTerminating"]}}`, Want: []string{`spec.scopes: Invalid value: ["Terminating","NotTerminating"]: conflicting scopes`}},
		{Body: `{"spec":{"hard":{"pods":"1"},"scopeSelector":{"matchExpressions":[{"scopeName":"PriorityClass","operator":"In","values":["a"]},{"scopeName":"Terminating","operator":"Exists"}]}}}`, Want: nil},
		{Body: `{"spec":{"hard":{"pods":"1"},"scopeSelector":{"matchExpressions":[{"scopeName":"PriorityClass","operator":"In"}]}}}`, Want: []string{
			"spec.scopeSelector.matchExpressions.values: Required value: must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"}},
		{Body: `{"spec":{"hard":{"pods":"1"},"scopeSelector":{"matchExpressions":[{"scopeName":"PriorityClass","operator":"Exists","values":["a"]}]}}}`, Want: []string{
			"spec.scopeSelector.matchExpressions.values: Invalid value: [\"a\"]: must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"}},
		{Body: `{"spec":{"hard":{"pods":"1"},"scopeSelector":{"matchExpressions":[{"scopeName":"Terminating","operator":"In","values":["a"]},{"scopeName":"Odd","operator":"Exists"}]}}}`, Want: []string{
			`spec.scopeSelector.matchExpressions.operator: Invalid value: "In": must be 'Exists' when scope is any of…`,
			`spec.scopeSelector.matchExpressions.scopeName: Invalid value: "Odd": unsupported scope`}},
	})
	RunUpdateCases(t, k, []UpdateCase{
		{Old: `{"spec":{"hard":{"pods":"1"},"scopes":["BestEffort","Terminating"]}}`, Now: `{"spec":{"hard":{"pods":"2"},"scopes":["Terminating","BestEffort"]}}`, Want: nil},
		{Old: `{"spec":{"hard":{"pods":"1"},"scopes":["BestEffort"]}}`, Now: `{"spec":{"hard":{"pods":"1"}}}`, Want: []string{`spec.scopes: Invalid value: null: field is immutable`}},
	})
	status := Named(k, Parse(t, `{"spec":{},"status":{"hard":{"gold":"1"},"used":{"pods":"-1"}}}`))
	Expect(t, "status", Lines(rules.Validate(k, status)), []string{
		`status.hard[gold]: Invalid value: "gold": must be a standard resource type or fully qualified`, `status.hard[gold]: Invalid value: "gold": must be a standard resource for quota`,
		`status.used[pods]: Invalid value: "-1": must be greater than or equal to 0`})
}
