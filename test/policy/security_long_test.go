package policy

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/test/client"
)

// numbered returns a JSON list of n items. Item i is format with the argument i.
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

// TestLongLists checks that duplicate or new items in a long list are found quickly. A quadratic
// algorithm would exceed the time limit by a factor of a hundred.
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
		quick := client.Quick(t, 20*time.Second, test.name)
		answer, err := s.Do(t.Context(), test.method, test.path, test.kind, []byte(test.body))
		quick()
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if len(answer.Body) > 6<<20 {
			t.Errorf("%s: the answer has %d bytes", test.name, len(answer.Body))
		}
		t.Logf("%s: %.120s", test.name, answer.String())
	}
}

// TestRepetition checks that requests with many repetitions do not take quadratic time.
func TestRepetition(t *testing.T) {
	const (
		n         = 14_000
		jsonPatch = "application/json-patch+json"
		strategic = "application/strategic-merge-patch+json"
	)
	s := restart(t, t.TempDir())
	expect(t, s, 201, "POST", pods, typeJSON, `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}}`)
	items := func(n int, format string) string { return strings.Trim(numbered(n, format), "[]") }
	data := `"data":{` + items(n, `"k%d":""`) + `}`
	repeated := func(n int, item string) string { return strings.TrimSuffix(strings.Repeat(item+",", n), ",") }
	for _, name := range []string{"apply", "update"} {
		operation := strings.ToUpper(name[:1]) + name[1:]
		expect(t, s, 201, "POST", configMaps, typeJSON, `{"metadata":{"name":"`+name+`"},`+data+`}`)
		expect(t, s, 200, "PUT", configMaps+"/"+name, typeJSON, `{"metadata":{"name":"`+name+`","managedFields":`+
			numbered(n, `{"manager":"m%[1]d","operation":"`+operation+`","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:k%[1]d":{}}}}`)+`},`+data+`}`)
	}
	applied := func(data string) string {
		return `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"apply"},` + data + `}`
	}
	for _, test := range []struct {
		name, method, path, kind, body string
		code                           int
	}{
		{"an item in a patch", "PATCH", pods + "/p", strategic,
			`{"spec":{"containers":[{"name":"c","env":` + numbered(40_000, `{"name":"E%d"}`) + `},` + items(40_000, `{"name":"c","env":[{"name":"E%d"}]}`) + `]}}`, 413},
		{"an item in a patch, with an order", "PATCH", pods + "/p", strategic,
			`{"spec":{"containers":[{"name":"c","env":` + numbered(40_000, `{"name":"E%d"}`) + `},` + items(30_000, `{"name":"c","$setElementOrder/env":[{"name":"E%d"}]}`) + `]}}`, 413},
		{"an item in a patch, with a map", "PATCH", pods + "/p", strategic,
			`{"spec":{"volumes":[{"name":"v","csi":{"volumeAttributes":{` + items(60_000, `"a%d":""`) + `}}},` + items(30_000, `{"name":"v","csi":{"volumeAttributes":{"a%d":"x"}}}`) + `]}}`, 413},
		{"the first item of a list in a patch", "PATCH", configMaps + "/apply", jsonPatch,
			`[{"op":"add","path":"/x","value":` + `[` + repeated(400_000, `0`) + `]` + `},` + repeated(9_998, `{"op":"remove","path":"/x/0"}`) + `,{"op":"remove","path":"/x"}]`, 413},
		{"an apply of what they own", "PATCH", configMaps + "/apply?fieldManager=x", typeApply, applied(data), 200},
		{"an apply of less", "PATCH", configMaps + "/apply?fieldManager=x", typeApply, applied(`"data":{"k1":""}`), 200},
		{"a conflict", "PATCH", configMaps + "/apply?fieldManager=y", typeApply, applied(strings.ReplaceAll(data, `""`, `"y"`)), 409},
		{"a change of all", "PATCH", configMaps + "/apply", "application/merge-patch+json", `{` + strings.ReplaceAll(data, `""`, `"z"`) + `}`, 200},
		{"a change of one", "PATCH", configMaps + "/update", "application/merge-patch+json", `{"data":{"z":""}}`, 200},
		{"a path of one manager", "POST", configMaps, typeJSON, `{"metadata":{"name":"twice","managedFields":[{"manager":"m","operation":"Update","apiVersion":"v1",` +
			`"fieldsType":"FieldsV1","fieldsV1":{"f:x":{` + items(40_000, `"f:y":{"f:n%[1]d":{}},"f:z":{"f:n%[1]d":{}}`) + `}}}]}}`, 201},
	} {
		quick := client.Quick(t, 20*time.Second, test.name)
		answer, err := s.Do(t.Context(), test.method, test.path, test.kind, []byte(test.body))
		quick()
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if answer.Code != test.code {
			t.Errorf("%s: %.300s, want %d", test.name, answer.String(), test.code)
		}
		t.Logf("%s: %.120s", test.name, answer.String())
	}
}
