package catalog_test

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// kindInGroup finds a kind of a group, both in platform form, under a profile.
func kindInGroup(t *testing.T, n *meta.Naming, group, kind string) *schema.Kind {
	t.Helper()
	return kindByGVK(t, n, n.Translate(group), "v1", kind)
}

// A change is an object of a test, or the update of one, and the faults that it has.
type validationCase struct {
	name, old, obj string
	want           []string
}

// runValidationCases runs changes of objects of kind k. A case without a name is named after its object.
func runValidationCases(t *testing.T, k *schema.Kind, changes []validationCase) {
	t.Helper()
	for _, c := range changes {
		if c.name == "" {
			c.name = c.obj
		}
		obj := named(k, parseTree(t, c.obj))
		if c.old == "" {
			expect(t, c.name, create(k, obj), c.want)
			continue
		}
		old := named(k, parseTree(t, c.old))
		rules.Default(k, old)
		expect(t, c.name, update(k, obj, old), c.want)
	}
}

func TestRole(t *testing.T) {
	const group = "rbac.authorization.platform.io"
	runValidationCases(t, kindInGroup(t, meta.Platform, group, "Role"), []validationCase{
		{obj: `{}`},
		{obj: `{"metadata":{"name":"system:x"},"rules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"],"resourceNames":["a"]}]}`},
		{obj: `{"metadata":{"name":"a/b"}}`, want: []string{`metadata.name: Invalid value: "a/b": may not contain '/'`}},
		{obj: `{"rules":[{"apiGroups":[""],"resources":["pods"]}]}`, want: []string{`rules[0].verbs: Required value: verbs must contain at least one value`}},
		{obj: `{"rules":[{"verbs":["get"]}]}`, want: []string{`rules[0].apiGroups: Required value: resource rules must supply at least one api group`,
			`rules[0].resources: Required value: resource rules must supply at least one resource`}},
		{obj: `{"rules":[{"verbs":["get"],"nonResourceURLs":["/x"]}]}`, want: []string{`rules[0].nonResourceURLs: Invalid value: ["/x"]: namespaced rules cannot apply to non-resource URLs`}},
	})
	runValidationCases(t, kindInGroup(t, meta.Platform, group, "ClusterRole"), []validationCase{
		{obj: `{"rules":[{"verbs":["get"],"nonResourceURLs":["/x"]}]}`},
		{obj: `{"rules":[{"verbs":["get"],"nonResourceURLs":["/x"],"resources":["pods"]}]}`, want: []string{`rules[0].nonResourceURLs: Invalid value: ["/x"]: rules cannot apply to both regular resources and non-resource URLs`}},
		{obj: `{"rules":null,"aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"a":"b"}}]}}`},
		{obj: `{"aggregationRule":{}}`, want: []string{`aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector required if aggregationRule is non-nil`}},
		{obj: `{"aggregationRule":{"clusterRoleSelectors":[{"matchExpressions":[{"key":"a","operator":"Near"}]}]}}`,
			want: []string{`aggregationRule.clusterRoleSelectors[0].matchExpressions[0].operator: Invalid value: "Near": not a valid selector operator`}},
	})
}

func TestRoleBinding(t *testing.T) {
	const group, ref = "rbac.authorization.platform.io", `"roleRef":{"kind":"ClusterRole","name":"r"}`
	local := []validationCase{
		{obj: `{` + ref + `}`},
		{obj: `{` + ref + `,"subjects":[{"kind":"Group","name":"g"},{"kind":"User","name":"u"},{"kind":"ServiceAccount","name":"s","namespace":"n"}]}`},
		{obj: `{"roleRef":{"apiGroup":"x","kind":"Nope"}}`, want: []string{
			`roleRef.apiGroup: Unsupported value: "x": supported values: "rbac.authorization.k8s.io"`,
			`roleRef.kind: Unsupported value: "Nope": supported values: "Role", "ClusterRole"`, `roleRef.name: Required value`}},
		{obj: `{"roleRef":{"kind":"Role","name":"a/b"}}`, want: []string{`roleRef.name: Invalid value: "a/b": may not contain '/'`}},
		{obj: `{` + ref + `,"subjects":[{"kind":"User","name":"u","apiGroup":"x"}]}`, want: []string{`subjects[0].apiGroup: Unsupported value: "x": supported values: "rbac.authorization.k8s.io"`}},
		{obj: `{` + ref + `,"subjects":[{"kind":"ServiceAccount","name":"S","apiGroup":"x"}]}`, want: []string{
			`subjects[0].name: Invalid value: "S": a lowercase RFC 1123 subdomain…`, `subjects[0].apiGroup: Unsupported value: "x": supported values: ""`}},
		{obj: `{` + ref + `,"subjects":[{"kind":"Group"}]}`, want: []string{`subjects[0].name: Required value`, `subjects[0].name: Invalid value: "": group name cannot be empty`}},
		{obj: `{` + ref + `,"subjects":[{"kind":"Robot","name":"r"}]}`, want: []string{`subjects[0].kind: Unsupported value: "Robot": supported values: "ServiceAccount", "User", "Group"`}},
		{name: "role changes", old: `{` + ref + `}`, obj: `{"roleRef":{"kind":"ClusterRole","name":"s"}}`, want: []string{`roleRef: Invalid value: {"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"s"}: cannot change roleRef`}},
		{name: "subjects change", old: `{` + ref + `}`, obj: `{` + ref + `,"subjects":[{"kind":"User","name":"u"}]}`},
	}
	runValidationCases(t, kindInGroup(t, meta.Kubernetes, group, "RoleBinding"), local)
	runValidationCases(t, kindInGroup(t, meta.Platform, group, "ClusterRoleBinding"), []validationCase{
		{obj: `{"roleRef":{"kind":"Role","name":"r"}}`, want: []string{`roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"`}},
		{obj: `{` + ref + `,"subjects":[{"kind":"ServiceAccount","name":"s"}]}`, want: []string{`subjects[0].namespace: Required value`}},
	})
}

func TestRoleWithoutRules(t *testing.T) {
	for _, kind := range []string{"Role", "ClusterRole"} {
		obj := parseTree(t, `{"metadata":{"name":"x"},"rules":[]}`)
		kindInGroup(t, meta.Platform, "rbac.authorization.platform.io", kind).Rules.Prepare(obj, nil)
		equalJSON(t, kind, obj, `{"metadata":{"name":"x"}}`)
	}
}

func TestBindingDefaults(t *testing.T) {
	k := kindInGroup(t, meta.Kubernetes, "rbac.authorization.platform.io", "RoleBinding")
	obj := parseTree(t, `{"roleRef":{"kind":"Role","name":"r"},"subjects":[{"kind":"Group","name":"g"},{"kind":"ServiceAccount","name":"s"}]}`)
	rules.Default(k, obj)
	equalJSON(t, "binding", obj, `{"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"r"},
		"subjects":[{"kind":"Group","name":"g","apiGroup":"rbac.authorization.k8s.io"},{"kind":"ServiceAccount","name":"s"}]}`)
}
