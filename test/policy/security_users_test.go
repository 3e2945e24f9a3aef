package policy

import (
	"fmt"

	"github.com/troupe-api/troupe/test/client"
)

const rights = "/apis/rbac.authorization.platform.io/v1"

const (
	typeJSONPatch = "application/json-patch+json"
	typeMerge     = "application/merge-patch+json"
	typeStrategic = "application/strategic-merge-patch+json"
	typeApply     = "application/apply-patch+yaml"
)

func (v *testServer) as(user, method, path, kind, body string) (int, string) {
	v.t.Helper()
	return v.bearer(credential(user), method, path, kind, body)
}

func (v *testServer) bearer(token, method, path, kind, body string) (int, string) {
	v.t.Helper()
	a := client.Exchange(v.t, v.plain, method, v.d.URL()+path, body, "Content-Type: "+kind, "Authorization: Bearer "+token)
	return a.Code, string(a.Body)
}

// want sends a request as a user, checks that the status code is one of codes, and returns the
// response body.
func (v *testServer) want(user, method, path, kind, body string, codes ...int) string {
	v.t.Helper()
	got, text := v.as(user, method, path, kind, body)
	for _, code := range codes {
		if got == code {
			return text
		}
	}
	v.t.Errorf("%s: %s %s (%s) %.300s: %d, want %v: %.500s", user, method, path, kind, body, got, codes, text)
	return text
}

// grant grants RBAC rules in JSON to a user and waits until they take effect.
func (v *testServer) grant(name, user, rules string) {
	v.t.Helper()
	const group = `"apiGroup":"rbac.authorization.platform.io"`
	rules += `,{"nonResourceURLs":["/granted/` + name + `"],"verbs":["get"]}`
	v.must(201, "POST", rights+"/clusterroles", typeJSON, `{"metadata":{"name":"`+name+`"},"rules":[`+rules+`]}`)
	v.must(201, "POST", rights+"/clusterrolebindings", typeJSON, `{"metadata":{"name":"`+name+`"},"roleRef":{`+group+`,"kind":"ClusterRole","name":"`+name+`"},
		"subjects":[{"kind":"User",`+group+`,"name":"`+user+`"}]}`)
	client.Eventually(v.t, func() error {
		if code, text := v.as(user, "GET", "/granted/"+name, "", ""); code != 404 {
			return fmt.Errorf("%s is not granted to %s: %d %s", name, user, code, text)
		}
		return nil
	})
}
