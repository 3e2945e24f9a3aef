package api_test

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
)

func TestStorageVersionMigration(t *testing.T) {
	k := KindByGVK(t, meta.Kubernetes, "storagemigration.k8s.io", "v1beta1", "StorageVersionMigration")
	body := func(group, resource string) string {
		return `{"metadata":{"name":"m"},"spec":{"resource":{"group":"` + group + `","resource":"` + resource + `"}}}`
	}
	RunValidationCases(t, k, []ValidationCase{
		{Obj: body("", "pods")},
		{Obj: body("example.com", "widgets")},
		{Obj: body("example.com", ""), Want: []string{"spec.resource.resource: Required value: resource is required to be set"}},
		{Obj: `{"metadata":{"name":"m"}}`, Want: []string{"spec.resource.resource: Required value: resource is required to be set"}},
		{Obj: body("A", "pods/status"), Want: []string{
			`spec.resource.group: Invalid value: "A": a lowercase RFC 1123 subdomain…`, `spec.resource.resource: Invalid value: "pods/status": a DNS-1035 label…`}},
		{Old: body("", "pods"), Obj: body("", "nodes"), Want: []string{`spec: Invalid value: {"resource":{"group":"","resource":"nodes"}}: field is immutable`}},
	})
	obj := Named(k, Parse(t, `{"spec":{"resource":{"group":"","resource":"pods"}},"status":{"resourceVersion":"1"}}`))
	Create(k, obj)
	EqualJSON(t, "new status", obj["status"], `{}`)
}

func TestStatus(t *testing.T) {
	k := KindByGVK(t, meta.Kubernetes, "storagemigration.k8s.io", "v1beta1", "StorageVersionMigration")
	condition := func(kind, status string) string {
		return `{"type":"` + kind + `","status":"` + status + `","reason":"R","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}`
	}
	running, succeeded, failed := condition("Running", "True"), condition("Succeeded", "True"), condition("Failed", "True")
	for _, c := range []struct {
		what, old, now string
		want           []string
	}{
		{"begun", ``, `"resourceVersion":"12","conditions":[` + running + `]`, nil},
		{"succeeded", `"resourceVersion":"12","conditions":[` + running + `]`, `"resourceVersion":"12","conditions":[` + condition("Running", "False") + `,` + succeeded + `]`, nil},
		{"failed at once", ``, `"resourceVersion":"12","conditions":[` + failed + `]`, nil},
		{"the same", `"conditions":[` + running + `]`, `"conditions":[` + running + `]`, nil},
		{"no version", ``, `"conditions":[` + running + `]`, []string{`status.resourceVersion: Invalid value: "": resource version is not well formed: `}},
		{"bad version", ``, `"resourceVersion":"x1"`, []string{`status.resourceVersion: Invalid value: "x1": resource version is not well formed: x1`}},
		{"version 0", ``, `"resourceVersion":"0"`, []string{`status.resourceVersion: Invalid value: "0": resource version is not well formed: 0`}},
		{"another version", `"resourceVersion":"12"`, `"resourceVersion":"13"`, []string{`status.resourceVersion: Invalid value: "13": field is immutable`}},
		{"bad condition", ``, `"resourceVersion":"12","conditions":[` + condition("Running", "Yes") + `]`,
			[]string{`status.conditions[0].status: Unsupported value: "Yes": supported values: "False", "True", "Unknown"`}},
		{"everything", ``, `"resourceVersion":"12","conditions":[` + running + `,` + succeeded + `,` + failed + `]`, []string{
			`status.conditions: Invalid value: …`, `status.conditions: Invalid value: …`, `status.conditions: Invalid value: …`}},
		{"undone", `"resourceVersion":"12","conditions":[` + succeeded + `]`, `"resourceVersion":"12","conditions":[` + condition("Succeeded", "False") + `]`,
			[]string{`status.conditions: Invalid value: …`}},
		{"forgotten", `"resourceVersion":"12","conditions":[` + failed + `]`, `"resourceVersion":"12"`, []string{`status.conditions: Invalid value: …`}},
	} {
		const spec = `"spec":{"resource":{"group":"","resource":"pods"}},"status":{`
		old := Named(k, Parse(t, `{`+spec+c.old+`}}`))
		obj := Named(k, Parse(t, `{`+spec+c.now+`}}`))
		Expect(t, c.what, Update(k, obj, old), c.want)
	}
}
