package security

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"
)

// numbered is a list of n texts, each made from its number.
func numbered(n int, format string) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, format, i)
	}
	return "[" + b.String() + "]"
}

// TestLongLists: no list is so long that to look for what is twice in it, or new, takes more than a
// moment: the bound would be met a hundred times over by a walk for each item.
func TestLongLists(t *testing.T) {
	s := restart(t, t.TempDir())
	const n = 60_000
	names := numbered(n, `"e.com/a%d"`)
	expect(t, s, 201, "POST", configMaps, typeJSON, `{"metadata":{"name":"a","finalizers":`+numbered(n, `"e.com/b%d"`)+`}}`)
	expect(t, s, 200, "DELETE", configMaps+"/a", "", "")
	request := `{"metadata":{"name":"c"},"spec":{"request":"eA==","signerName":"e.com/s","usages":` + numbered(n, `"u%d"`) + `}}`
	rule := `{"apiGroups":[""],"apiVersions":["v1"],"operations":["*"],"resources":["pods"],"resourceNames":` + numbered(n, `"n%d"`) + `}`
	for _, test := range []struct{ name, method, path, kind, body string }{
		{"finalizers while deleting", "PUT", configMaps + "/a", typeJSON, `{"metadata":{"name":"a","finalizers":` + names + `}}`},
		{"finalizers", "POST", configMaps, typeJSON, `{"metadata":{"name":"b","finalizers":` + names + `}}`},
		{"finalizers by an apply", "PATCH", configMaps + "/n?fieldManager=m", typeApply, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"n","finalizers":` + names + `}}`},
		{"owners", "POST", configMaps, typeJSON, `{"metadata":{"name":"o","ownerReferences":` + numbered(25_000, `{"apiVersion":"v1","kind":"X","name":"x","uid":"%d"}`) + `}}`},
		{"managers", "POST", configMaps, typeJSON, `{"metadata":{"name":"m","managedFields":` + numbered(15_000, `{"manager":"m%d","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{}}`) + `}}`},
		{"conditions", "PUT", configMaps[:len(configMaps)-10] + "pods/p/status", typeJSON, `{"metadata":{"name":"p"},"status":{"conditions":` + numbered(30_000, `{"type":"t%d","status":"True"}`) + `}}`},
		{"usages", "POST", "/apis/certificates.platform.io/v1/certificatesigningrequests", typeJSON, request},
		{"tolerations", "POST", "/apis/node.platform.io/v1/runtimeclasses", typeJSON, `{"metadata":{"name":"r"},"handler":"h","scheduling":{"tolerations":` + numbered(30_000, `{"key":"k%d","operator":"Exists"}`) + `}}`},
		{"names of a rule", "POST", "/apis/admissionregistration.platform.io/v1/validatingadmissionpolicies", typeJSON, `{"metadata":{"name":"p"},"spec":{"matchConstraints":{"resourceRules":[` + rule + `]},"validations":[{"expression":"true"}]}}`},
		{"families", "POST", "/api/v1/namespaces/default/services", typeJSON, `{"metadata":{"name":"s"},"spec":{"ports":[{"port":1}],"ipFamilies":` + numbered(n, `"f%d"`) + `}}`},
		{"ports", "POST", "/api/v1/namespaces/default/services", typeJSON, `{"metadata":{"name":"s"},"spec":{"ports":` + numbered(30_000, `{"name":"p%d","port":1}`) + `}}`},
		{"containers", "POST", "/api/v1/namespaces/default/pods", typeJSON, `{"metadata":{"name":"p"},"spec":{"containers":` + numbered(20_000, `{"name":"c%d","image":"i"}`) + `}}`},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		begin := time.Now()
		answer, err := s.Do(ctx, test.method, test.path, test.kind, []byte(test.body))
		cancel()
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if len(answer.Body) > 6<<20 {
			t.Errorf("%s: the answer has %d bytes", test.name, len(answer.Body))
		}
		t.Logf("%s: %v %.120s", test.name, time.Since(begin), answer.String())
	}
}
