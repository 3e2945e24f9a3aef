package api

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

// TestUnenforced: whoever writes what has no effect is told so, in every way to write it, and a table
// of the handbook has it.
func TestUnenforced(t *testing.T) {
	t.Parallel()
	s := client.Open(t, nil)
	handbook := client.ReadFile(t, "../../docs/operations.md")
	const hook = `"webhooks":[{"name":"a.b.c","clientConfig":{"url":"https://h"},"sideEffects":"None","admissionReviewVersions":["v1"]}]`
	const admission, network = "/apis/admissionregistration.platform.io/v1/", "/apis/networking.platform.io/v1/"
	const registration = `"group":"a.example","version":"v1","groupPriorityMinimum":1,"versionPriority":1`
	for _, c := range []struct {
		path, kind, name, body string
		told                   bool
	}{
		{admission + "validatingwebhookconfigurations", "ValidatingWebhookConfiguration", "x", hook, false},
		{admission + "mutatingwebhookconfigurations", "MutatingWebhookConfiguration", "x", hook, false},
		{admission + "validatingadmissionpolicies", "ValidatingAdmissionPolicy", "x", `"spec":{"matchConstraints":{"resourceRules":[{"apiGroups":[""],"apiVersions":["v1"],"operations":["CREATE"],"resources":["pods"]}]},"validations":[{"expression":"true"}]}`, false},
		{admission + "validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding", "x", `"spec":{"policyName":"x","validationActions":["Deny"]}`, false},
		{"/api/v1/namespaces/default/resourcequotas", "ResourceQuota", "x", `"spec":{"hard":{"pods":"1"}}`, false},
		{"/api/v1/namespaces/default/limitranges", "LimitRange", "x", `"spec":{"limits":[{"type":"Pod","max":{"cpu":"1"}}]}`, false},
		{"/apis/apiregistration.platform.io/v1/apiservices", "APIService", "v1.a.example", `"spec":{` + registration + `,"service":{"name":"s","namespace":"n"},"insecureSkipTLSVerify":true}`, false},
		{"/apis/apiregistration.platform.io/v1/apiservices", "APIService", "v1.a.example", `"spec":{` + registration + `}`, false},
		{"/api/v1/namespaces/default/configmaps", "ConfigMap", "x", `"data":{}`, false},
	} {
		version := strings.TrimPrefix(strings.TrimPrefix(c.path[:strings.LastIndex(c.path, "/")], "/apis/"), "/api/")
		version = strings.TrimSuffix(version, "/namespaces/default")
		body := `{"apiVersion":"` + version + `","kind":"` + c.kind + `","metadata":{"name":"` + c.name + `"},` + c.body + `}`
		var labelled map[string]any
		client.Decode(t, body, &labelled)
		labelled["metadata"].(map[string]any)["labels"] = map[string]string{"a": "b"}
		changed, _ := json.Marshal(labelled)
		at := c.path + "/" + c.name
		for _, w := range []struct {
			code                     int
			method, path, kind, body string
		}{
			{201, http.MethodPost, c.path + "?dryRun=All", client.JSON, body},
			{201, http.MethodPost, c.path, client.JSON, body},
			{200, http.MethodPatch, at, client.MergePatch, `{"metadata":{"annotations":{"a":"b"}}}`},
			{200, http.MethodPatch, at + "?force=true&fieldManager=x", "application/apply-patch+yaml", string(changed)},
			{200, http.MethodPatch, at + "?force=true&fieldManager=x", "application/apply-patch+yaml", string(changed)},
		} {
			a := s.Send(w.code, w.method, w.path, w.kind, w.body)
			if told := strings.Contains(strings.Join(a.Header.Values("Warning"), "\n"), "stores the object and does not enforce it"); told != c.told {
				t.Errorf("%s %s: the warnings are %q", w.method, w.path, a.Header.Values("Warning"))
			}
		}
		if a := s.Send(200, http.MethodGet, at, "", ""); a.Header.Get("Warning") != "" {
			t.Errorf("a read of %s warns", c.kind)
		}
		s.Send(200, http.MethodDelete, at, client.JSON, "")
		if c.told && !strings.Contains(string(handbook), c.kind) {
			t.Errorf("%s is not in the table of docs/operations.md", c.kind)
		}
	}
}
