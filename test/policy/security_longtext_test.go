package policy

import (
	"strings"
	"testing"
)

// TestLongTexts checks that an error message quotes only part of a long value and escapes it once.
func TestLongTexts(t *testing.T) {
	s := restart(t, t.TempDir())
	const (
		definitions = "/apis/apiextensions.platform.io/v1/customresourcedefinitions"
		things      = "/apis/e.com/v1/namespaces/default/things"
		strategic   = "application/strategic-merge-patch+json"
		most        = 2 << 20 // allows for escape sequences
	)
	expect(t, s, 201, "POST", configMaps, typeJSON, configMap("a"))
	expect(t, s, 201, "POST", pods, typeJSON, `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}}`)
	expect(t, s, 201, "POST", definitions, typeJSON, `{"metadata":{"name":"things.e.com"},"spec":{"group":"e.com","scope":"Namespaced","names":{"plural":"things","kind":"Thing"},
		"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"email":{"type":"string","format":"email"}}}}}]}}`)
	long := strings.Repeat("<", 1_400_000)
	thing := func(members string) string {
		return `{"apiVersion":"e.com/v1","kind":"Thing","metadata":{"name":"a"},` + members + `}`
	}
	for _, test := range []struct {
		name, method, path, kind, body string
		code                           int
	}{
		{"a key of data", "POST", configMaps, typeJSON, `{"metadata":{"name":"b"},"data":{"` + long + `":""}}`, 422},
		{"a key of data, applied", "PATCH", configMaps + "/b?fieldManager=m", typeApply, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b"},"data":{"` + long + `":""}}`, 422},
		{"a name", "POST", configMaps, typeJSON, `{"metadata":{"name":"` + long + `"}}`, 422},
		{"a kind", "POST", configMaps, typeJSON, `{"kind":"` + long + `","apiVersion":"` + long[:1000] + `","metadata":{"name":"b"}}`, 400},
		{"a version", "PUT", configMaps + "/a", typeJSON, `{"metadata":{"name":"a","resourceVersion":"` + long + `"}}`, 422},
		{"a uid", "PUT", configMaps + "/a", typeJSON, `{"metadata":{"name":"a","uid":"` + long + `"}}`, 409},
		{"a precondition", "DELETE", configMaps + "/a", typeJSON, `{"preconditions":{"uid":"` + long + `"}}`, 409},
		{"a directive", "PATCH", pods + "/p", strategic, `{"$` + long + `":1}`, 400},
		{"an item", "PATCH", pods + "/p", strategic, `{"spec":{"containers":["` + long + `"]}}`, 400},
		{"a resource", "POST", pods, typeJSON, `{"metadata":{"name":"b"},"spec":{"containers":[{"name":"c","image":"i","resources":{"limits":{"` + long + `":"1"}}}]}}`, 422},
		{"a format", "POST", things, typeJSON, thing(`"email":"` + long + `"`), 422},
		{"an unknown field", "POST", things + "?fieldValidation=Strict", typeJSON, thing(`"` + long + `":1`), 400},
	} {
		answer, err := s.Do(t.Context(), test.method, test.path, test.kind, []byte(test.body))
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if answer.Code != test.code || len(answer.Body) > most {
			t.Errorf("%s: %d with %d bytes, want %d: %.200s", test.name, answer.Code, len(answer.Body), test.code, answer.String())
		}
	}
}
