package policy

import (
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
)

// TestReviews: the four kinds are answered by what decides on requests.
func TestReviews(t *testing.T) {
	t.Parallel()
	r := serveUsers(t, func(c *daemon.Config, dir string) {
		c.Authorization.Modes = []string{"RBAC", "ABAC"}
		c.Authorization.PolicyFile = policies(t, dir, `"group":"devs","namespace":"dev","resource":"secrets","readonly":true`)
	}, "jane=devs")
	r.must("/api/v1/namespaces", `{"metadata":{"name":"dev"}}`)
	r.must(rbacPath+"/namespaces/dev/roles", `{"metadata":{"name":"one"},"rules":[{"apiGroups":[""],"resources":["configmaps"],"resourceNames":["a"],"verbs":["get"]}]}`)
	r.must(rbacPath+"/namespaces/dev/rolebindings", `{"metadata":{"name":"one"},"roleRef":{"apiGroup":"rbac.authorization.platform.io","kind":"Role","name":"one"},"subjects":[{"kind":"User","apiGroup":"rbac.authorization.platform.io","name":"jane"}]}`)
	r.waitAllowed(`"user":"jane","resourceAttributes":{"namespace":"dev","verb":"get","resource":"configmaps","name":"a"}`)
	const (
		sar   = reviewPath + "/subjectaccessreviews"
		self  = reviewPath + "/selfsubjectaccessreviews"
		local = reviewPath + "/namespaces/dev/localsubjectaccessreviews"
		list  = reviewPath + "/selfsubjectrulesreviews"
	)
	about := func(user, attributes string) string {
		return `{"spec":{` + user + `"resourceAttributes":{"namespace":"dev",` + attributes + `}}}`
	}
	const (
		jane    = `"user":"jane","groups":["devs"],`
		get     = `"verb":"get","resource":"configmaps","name":"a"`
		reason  = `RBAC: allowed by RoleBinding \"one/dev\" of Role \"one\" to User \"jane\"`
		allowed = `"status":{"allowed":true`
		refused = `"status":{"allowed":false`
	)
	for _, c := range []struct {
		user, path, body string
		code             int
		texts            []string
	}{
		{"root", sar, about(jane, get), 201, []string{allowed + `,"reason":"` + reason + `"}`, `"spec":{"resourceAttributes":{"namespace":"dev","verb":"get"`}},
		{"root", sar, about(jane, `"verb":"get","resource":"configmaps"`), 201, []string{refused + `,"reason":"No policy matched."}`}},
		{"root", sar, about(jane, `"verb":"get","resource":"configmaps","name":"a","group":"apps"`), 201, []string{refused}},
		{"root", sar, about(jane, `"verb":"get","resource":"configmaps","name":"a","subresource":"status"`), 201, []string{refused}},
		{"root", sar, about(jane, `"verb":"list","resource":"secrets"`), 201, []string{allowed + `}`}}, // by ABAC
		{"root", sar, about(`"user":"jane",`, `"verb":"list","resource":"secrets"`), 201, []string{refused}},
		{"root", sar, `{"spec":{"groups":["system:masters"],"nonResourceAttributes":{"verb":"post","path":"/x"}}}`, 201, []string{allowed}},
		{"root", sar, `{"spec":{"user":"x","nonResourceAttributes":{"verb":"get","path":"/livez/ping"}}}`, 201, []string{allowed}},
		{"root", sar, `{"spec":{"user":"x","nonResourceAttributes":{"verb":"get","path":"/metrics"}}}`, 201, []string{refused}},
		{"root", sar, `{"spec":{"user":"x"}}`, 422, []string{"exactly one of nonResourceAttributes or resourceAttributes must be specified"}},
		{"jane", sar, about(jane, get), 403, []string{`cannot create resource \"subjectaccessreviews\"`}},
		{"jane", self, about("", get), 201, []string{allowed}},
		{"jane", self, about("", `"verb":"delete","resource":"configmaps","name":"a"`), 201, []string{refused}},
		{"", self, about("", get), 403, nil},
		{"root", local, about(jane, get), 201, []string{allowed}},
		{"root", local, `{"spec":{` + jane + `"resourceAttributes":{"verb":"get"}}}`, 422, []string{`spec.resourceAttributes.namespace: Invalid value: \"\": must match metadata.namespace`}},
		{"root", local, `{"spec":{` + jane + `"resourceAttributes":{"namespace":"other","verb":"get"}}}`, 422, []string{"must match metadata.namespace"}},
		{"root", local, `{"metadata":{"namespace":"other"},"spec":{` + jane + `"resourceAttributes":{"namespace":"other","verb":"get"}}}`, 400, []string{"the namespace of the provided object does not match the namespace sent on the request"}},
		{"root", local, `{"spec":{` + jane + `"nonResourceAttributes":{"verb":"get","path":"/x"}}}`, 422, []string{"disallowed on this kind of request"}},
		{"jane", local, about(jane, get), 403, nil},
		{"jane", list, `{"spec":{"namespace":"dev"}}`, 201, []string{
			`{"verbs":["get"],"apiGroups":[""],"resources":["configmaps"],"resourceNames":["a"]}`,
			`{"verbs":["get","list","watch"],"apiGroups":[""],"resources":["secrets"]}`,
			`"selfsubjectrulesreviews"`, `"/version"`, `"incomplete":false`}},
		{"jane", list, `{"spec":{}}`, 400, []string{"no namespace on request"}},
	} {
		r.expect(c.user, "POST", c.path, c.body, c.code, c.texts...)
	}
	r.expect("root", "GET", sar, "", 405)
}
