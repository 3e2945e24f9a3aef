package api_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/catalog/flowcontrol"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

const group, version = "flowcontrol.apiserver.k8s.io", "v1"

// TestMaintainedObjects: maintained objects are valid in both profiles, and defaulting does not
// change them.
func TestMaintainedObjects(t *testing.T) {
	for _, n := range []*meta.Naming{meta.Platform, meta.Kubernetes} {
		for kind, objects := range map[string][]flowcontrol.Object{"FlowSchema": flowcontrol.FlowSchemas(n), "PriorityLevelConfiguration": flowcontrol.PriorityLevels()} {
			k := KindByGVK(t, n, n.Group("flowcontrol.apiserver"), version, kind)
			for _, o := range objects {
				obj := tree.Tree{"metadata": tree.Tree{"name": o.Name}, "spec": tree.Clone(o.Spec)}
				Expect(t, kind+" "+o.Name, Create(k, obj), nil)
				if !tree.StrictEqual(obj.Object("spec"), o.Spec) {
					t.Errorf("%s %s is stored as %v, declared as %v", kind, o.Name, obj["spec"], o.Spec)
				}
			}
		}
	}
}

func TestFlowSchema(t *testing.T) {
	const rule = `{"subjects":[{"kind":"User","user":{"name":"a"}}],"resourceRules":[{"verbs":["*"],"apiGroups":["*"],"resources":["*"],"clusterScope":true}]}`
	with := func(subject string) string {
		return `"rules":[{"subjects":[` + subject + `],"nonResourceRules":[{"verbs":["get"],"nonResourceURLs":["*"]}]}]`
	}
	resource := func(r string) string {
		return `"rules":[{"subjects":[{"kind":"Group","group":{"name":"g"}}],"resourceRules":[` + r + `]}]`
	}
	path := func(verbs, urls string) string {
		return `"rules":[{"subjects":[{"kind":"Group","group":{"name":"g"}}],"nonResourceRules":[{"verbs":` + verbs + `,"nonResourceURLs":` + urls + `}]}]`
	}
	const verbs = `"create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"`
	const at = "spec.rules[0]."
	k := KindByGVK(t, meta.Kubernetes, group, version, "FlowSchema")
	RunCreateCases(t, k, `"priorityLevelConfiguration":{"name":"l"},"rules":[`+rule+`]`, []CreateCase{
		{Name: "complete", Spec: `"matchingPrecedence":2,"distinguisherMethod":{"type":"ByUser"}`},
		{Name: "no rules", Spec: `"rules":null`},
		{Name: "no level", Spec: `"priorityLevelConfiguration":null`, Want: []string{"spec.priorityLevelConfiguration.name: Required value: must reference a priority level"}},
		{Name: "level", Spec: `"priorityLevelConfiguration":{"name":"L"}`, Want: []string{`spec.priorityLevelConfiguration.name: Invalid value: "L": a lowercase RFC 1123 subdomain…`}},
		{Name: "precedence 1", Spec: `"matchingPrecedence":1`, Want: []string{"spec.matchingPrecedence: Invalid value: 1: only the schema named 'exempt' may have matchingPrecedence 1"}},
		{Name: "precedence below", Spec: `"matchingPrecedence":-1`, Want: []string{"spec.matchingPrecedence: Invalid value: -1: must be a positive value"}},
		{Name: "precedence above", Spec: `"matchingPrecedence":10001`, Want: []string{"spec.matchingPrecedence: Invalid value: 10001: must not be greater than 10000"}},
		{Name: "distinguisher", Spec: `"distinguisherMethod":{"type":"ByMoon"}`, Want: []string{`spec.distinguisherMethod.type: Unsupported value: "ByMoon": supported values: "ByNamespace", "ByUser"`}},
		{Name: "nothing asked", Spec: `"rules":[{"subjects":[{"kind":"User","user":{"name":"a"}}]}]`, Want: []string{"spec.rules[0]: Required value: at least one of resourceRules and nonResourceRules has to be non-empty"}},
		{Name: "nobody", Spec: with(""), Want: []string{at + "subjects: Required value: subjects must contain at least one value"}},
		{Name: "subject kind", Spec: with(`{"kind":"Team"}`), Want: []string{at + `subjects[0].kind: Unsupported value: "Team": supported values: "Group", "ServiceAccount", "User"`}},
		{Name: "subject twice", Spec: with(`{"kind":"Group","group":{"name":"g"},"user":{"name":"u"}}`), Want: []string{at + "subjects[0].user: Forbidden: user is forbidden when subject kind is not 'User'"}},
		{Name: "subject missing", Spec: with(`{"kind":"User"}`), Want: []string{at + "subjects[0].user: Required value: user is required when subject kind is 'User'"}},
		{Name: "subject name", Spec: with(`{"kind":"User","user":{"name":""}}`), Want: []string{at + "subjects[0].user.name: Required value"}},
		{Name: "account", Spec: with(`{"kind":"ServiceAccount","serviceAccount":{"namespace":"n","name":"*"}}`)},
		{Name: "account namespace", Spec: with(`{"kind":"ServiceAccount","serviceAccount":{"name":"a"}}`), Want: []string{at + "subjects[0].serviceAccount.namespace: Required value: must specify namespace for service account"}},
		{Name: "no verbs", Spec: path(`[]`, `["/a"]`), Want: []string{at + "nonResourceRules[0].verbs: Required value: verbs must contain at least one value"}},
		{Name: "verb", Spec: path(`["GET"]`, `["/a"]`), Want: []string{at + `nonResourceRules[0].verbs: Unsupported value: ["GET"]: supported values: ` + verbs}},
		{Name: "verb and *", Spec: path(`["get","*"]`, `["/a"]`), Want: []string{at + `nonResourceRules[0].verbs: Invalid value: ["get","*"]: if '*' is present, must not specify other verbs`}},
		{Name: "no paths", Spec: path(`["get"]`, `[]`), Want: []string{at + "nonResourceRules[0].nonResourceURLs: Required value: nonResourceURLs must contain at least one value"}},
		{Name: "paths", Spec: path(`["get"]`, `["","/","a","/a b","/a//b","/a*","/a/*/b","/a/*"]`), Want: []string{
			at + `nonResourceRules[0].nonResourceURLs[0]: Invalid value: "": must not be empty`,
			at + `nonResourceRules[0].nonResourceURLs[2]: Invalid value: "a": must start with slash`,
			at + `nonResourceRules[0].nonResourceURLs[3]: Invalid value: "/a b": must not contain white-space`,
			at + `nonResourceRules[0].nonResourceURLs[4]: Invalid value: "/a//b": must not contain double slash`,
			at + `nonResourceRules[0].nonResourceURLs[5]: Invalid value: "/a*": wildcard can only do suffix matching`,
			at + `nonResourceRules[0].nonResourceURLs[6]: Invalid value: "/a/*/b": wildcard can only do suffix matching`}},
		{Name: "no groups, resources, namespaces", Spec: resource(`{"verbs":["get"]}`), Want: []string{
			at + "resourceRules[0].apiGroups: Required value: resource rules must supply at least one api group",
			at + "resourceRules[0].resources: Required value: resource rules must supply at least one resource",
			at + "resourceRules[0].namespaces: Required value: resource rules that are not cluster scoped must supply at least one namespace"}},
		{Name: "namespaces", Spec: resource(`{"verbs":["get"],"apiGroups":["","*"],"resources":["pods","*"],"namespaces":["A"]}`), Want: []string{
			at + `resourceRules[0].apiGroups: Invalid value: ["","*"]: if '*' is present, must not specify other api groups`,
			at + `resourceRules[0].resources: Invalid value: ["pods","*"]: if '*' is present, must not specify other resources`,
			at + `resourceRules[0].namespaces[0]: Invalid value: "A": each member of this list must be '*' or a DNS-1123 label; a lowercase RFC 1123 label…`}},
	})
	obj := Parse(t, `{"metadata":{"name":"catch-all"},"spec":{"priorityLevelConfiguration":{"name":"l"},"matchingPrecedence":10000,"rules":[`+rule+`]}}`)
	if faults := Create(k, obj); len(faults) != 1 || !strings.HasSuffix(fmt.Sprint(faults[0]), "spec of 'catch-all' must equal the fixed value") {
		t.Errorf("another catch-all: %v", faults)
	}
}

func TestPriorityLevel(t *testing.T) {
	queuing := func(q string) string { return `"limited":{"limitResponse":{"type":"Queue","queuing":{` + q + `}}}` }
	const at = "spec.limited.limitResponse.queuing"
	k := KindByGVK(t, meta.Kubernetes, group, version, "PriorityLevelConfiguration")
	RunCreateCases(t, k, `"type":"Limited","limited":{"limitResponse":{"type":"Reject"}}`, []CreateCase{
		{Name: "reject"},
		{Name: "defaults", Spec: queuing("")},
		{Name: "no seats", Spec: `"limited":{"nominalConcurrencyShares":0,"limitResponse":{"type":"Reject"}}`},
		{Name: "numbers", Spec: `"limited":{"nominalConcurrencyShares":-1,"lendablePercent":101,"borrowingLimitPercent":-1,"limitResponse":{"type":"Reject"}}`, Want: []string{
			"spec.limited.nominalConcurrencyShares: Invalid value: -1: must be a non-negative integer",
			"spec.limited.lendablePercent: Invalid value: 101: must be between 0 and 100, inclusive",
			"spec.limited.borrowingLimitPercent: Invalid value: -1: if specified, must be a non-negative integer"}},
		{Name: "exempt", Spec: `"type":"Exempt","limited":null`, Want: []string{"spec.type: Invalid value: \"Exempt\": must be 'Exempt' if and only if `name` is 'exempt'"}},
		{Name: "type", Spec: `"type":"Free"`, Want: []string{`spec.type: Unsupported value: "Free": supported values: "Exempt", "Limited"`}},
		{Name: "nothing", Spec: `"limited":null`, Want: []string{"spec.limited: Required value: must not be empty when type is Limited"}},
		{Name: "both", Spec: `"exempt":{}`, Want: []string{"spec.exempt: Forbidden: must be nil if the type is Limited"}},
		{Name: "response", Spec: `"limited":{}`, Want: []string{`spec.limited.limitResponse.type: Unsupported value: "": supported values: "Queue", "Reject"`}},
		{Name: "no queues", Spec: `"limited":{"limitResponse":{"type":"Queue"}}`, Want: []string{at + ": Required value: must not be empty if limited.limitResponse.type is Limited"}},
		{Name: "queues", Spec: `"limited":{"limitResponse":{"type":"Reject","queuing":{}}}`, Want: []string{at + ": Forbidden: must be nil if limited.limitResponse.type is not Limited"}},
		{Name: "negative", Spec: queuing(`"queues":-1,"handSize":-1,"queueLengthLimit":-1`), Want: []string{
			at + ".queueLengthLimit: Invalid value: -1: must be positive", at + ".queues: Invalid value: -1: must be positive", at + ".handSize: Invalid value: -1: must be positive"}},
		{Name: "1e9 queues", Spec: queuing(`"queues":1000000000,"handSize":1`), Want: []string{at + ".queues: Invalid value: 1000000000: must not be greater than 10000000"}},
		{Name: "hand", Spec: queuing(`"queues":2,"handSize":3`), Want: []string{at + ".handSize: Invalid value: 3: should not be greater than queues (2)"}},
		{Name: "entropy", Spec: queuing(`"queues":128,"handSize":10`), Want: []string{at + ".handSize: Invalid value: 10: required entropy bits of deckSize 128 and handSize 10 should not be greater than 60"}},
	})
	fixed := func(name, spec, want string) {
		t.Helper()
		obj := Parse(t, `{"metadata":{"name":"`+name+`"},"spec":`+spec+`}`)
		faults := Create(k, obj)
		if want == "" && len(faults) != 0 || want != "" && (len(faults) != 1 || !strings.HasSuffix(fmt.Sprint(faults[0]), want)) {
			t.Errorf("%s %s: %v", name, spec, faults)
		}
	}
	fixed("exempt", `{"type":"Exempt","exempt":{"nominalConcurrencyShares":5,"lendablePercent":50}}`, "")
	fixed("catch-all", `{"type":"Limited","limited":{"nominalConcurrencyShares":6,"limitResponse":{"type":"Reject"}}}`, "spec of 'catch-all' must equal the fixed value")
}
