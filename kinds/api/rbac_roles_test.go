package api_test

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
)

func TestRole(t *testing.T) {
	const group = "rbac.authorization.platform.io"
	RunValidationCases(t, KindInGroup(t, meta.Platform, group, "Role"), []ValidationCase{
		{Obj: `{}`},
		{Obj: `{"metadata":{"name":"system:x"},"rules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"],"resourceNames":["a"]}]}`},
		{Obj: `{"metadata":{"name":"a/b"}}`, Want: []string{`metadata.name: Invalid value: "a/b": may not contain '/'`}},
		{Obj: `{"rules":[{"apiGroups":[""],"resources":["pods"]}]}`, Want: []string{`rules[0].verbs: Required value: verbs must contain at least one value`}},
		{Obj: `{"rules":[{"verbs":["get"]}]}`, Want: []string{`rules[0].apiGroups: Required value: resource rules must supply at least one api group`,
			`rules[0].resources: Required value: resource rules must supply at least one resource`}},
		{Obj: `{"rules":[{"verbs":["get"],"nonResourceURLs":["/x"]}]}`, Want: []string{`rules[0].nonResourceURLs: Invalid value: ["/x"]: namespaced rules cannot apply to non-resource URLs`}},
	})
	RunValidationCases(t, KindInGroup(t, meta.Platform, group, "ClusterRole"), []ValidationCase{
		{Obj: `{"rules":[{"verbs":["get"],"nonResourceURLs":["/x"]}]}`},
		{Obj: `{"rules":[{"verbs":["get"],"nonResourceURLs":["/x"],"resources":["pods"]}]}`, Want: []string{`rules[0].nonResourceURLs: Invalid value: ["/x"]: rules cannot apply to both regular resources and non-resource URLs`}},
		{Obj: `{"rules":null,"aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"a":"b"}}]}}`},
		{Obj: `{"aggregationRule":{}}`, Want: []string{`aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector required if aggregationRule is non-nil`}},
		{Obj: `{"aggregationRule":{"clusterRoleSelectors":[{"matchExpressions":[{"key":"a","operator":"Near"}]}]}}`,
			Want: []string{`aggregationRule.clusterRoleSelectors[0].matchExpressions[0].operator: Invalid value: "Near": not a valid selector operator`}},
	})
}

func TestRoleBinding(t *testing.T) {
	const group, ref = "rbac.authorization.platform.io", `"roleRef":{"kind":"ClusterRole","name":"r"}`
	local := []ValidationCase{
		{Obj: `{` + ref + `}`},
		{Obj: `{` + ref + `,"subjects":[{"kind":"Group","name":"g"},{"kind":"User","name":"u"},{"kind":"ServiceAccount","name":"s","namespace":"n"}]}`},
		{Obj: `{"roleRef":{"apiGroup":"x","kind":"Nope"}}`, Want: []string{
			`roleRef.apiGroup: Unsupported value: "x": supported values: "rbac.authorization.k8s.io"`,
			`roleRef.kind: Unsupported value: "Nope": supported values: "Role", "ClusterRole"`, `roleRef.name: Required value`}},
		{Obj: `{"roleRef":{"kind":"Role","name":"a/b"}}`, Want: []string{`roleRef.name: Invalid value: "a/b": may not contain '/'`}},
		{Obj: `{` + ref + `,"subjects":[{"kind":"User","name":"u","apiGroup":"x"}]}`, Want: []string{`subjects[0].apiGroup: Unsupported value: "x": supported values: "rbac.authorization.k8s.io"`}},
		{Obj: `{` + ref + `,"subjects":[{"kind":"ServiceAccount","name":"S","apiGroup":"x"}]}`, Want: []string{
			`subjects[0].name: Invalid value: "S": a lowercase RFC 1123 subdomain…`, `subjects[0].apiGroup: Unsupported value: "x": supported values: ""`}},
		{Obj: `{` + ref + `,"subjects":[{"kind":"Group"}]}`, Want: []string{`subjects[0].name: Required value`}},
		{Obj: `{` + ref + `,"subjects":[{"kind":"Robot","name":"r"}]}`, Want: []string{`subjects[0].kind: Unsupported value: "Robot": supported values: "ServiceAccount", "User", "Group"`}},
		{Name: "role changes", Old: `{` + ref + `}`, Obj: `{"roleRef":{"kind":"ClusterRole","name":"s"}}`, Want: []string{`roleRef: Invalid value: {"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"s"}: cannot change roleRef`}},
		{Name: "subjects change", Old: `{` + ref + `}`, Obj: `{` + ref + `,"subjects":[{"kind":"User","name":"u"}]}`},
	}
	RunValidationCases(t, KindInGroup(t, meta.Kubernetes, group, "RoleBinding"), local)
	RunValidationCases(t, KindInGroup(t, meta.Platform, group, "ClusterRoleBinding"), []ValidationCase{
		{Obj: `{"roleRef":{"kind":"Role","name":"r"}}`, Want: []string{`roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"`}},
		{Obj: `{` + ref + `,"subjects":[{"kind":"ServiceAccount","name":"s"}]}`, Want: []string{`subjects[0].namespace: Required value`}},
	})
}

func TestRoleWithoutRules(t *testing.T) {
	for _, kind := range []string{"Role", "ClusterRole"} {
		obj := Parse(t, `{"metadata":{"name":"x"},"rules":[]}`)
		KindInGroup(t, meta.Platform, "rbac.authorization.platform.io", kind).Preparer.Prepare(obj, nil)
		EqualJSON(t, kind, obj, `{"metadata":{"name":"x"}}`)
	}
}

func TestBindingDefaults(t *testing.T) {
	k := KindInGroup(t, meta.Kubernetes, "rbac.authorization.platform.io", "RoleBinding")
	obj := Parse(t, `{"roleRef":{"kind":"Role","name":"r"},"subjects":[{"kind":"Group","name":"g"},{"kind":"ServiceAccount","name":"s"}]}`)
	rules.Default(k, obj)
	EqualJSON(t, "binding", obj, `{"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"r"},
		"subjects":[{"kind":"Group","name":"g","apiGroup":"rbac.authorization.k8s.io"},{"kind":"ServiceAccount","name":"s"}]}`)
}
