package api

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

// TestNamesOfOperations: the members of an operation of a JSON patch have exact names. Others
// are nothing but told of.
func TestNamesOfOperations(t *testing.T) {
	t.Parallel()
	s := serveConventions(t, nil)
	s.send(t, 201, "POST", configMaps, client.JSON, `{"metadata":{"name":"a"},"data":{"x":"1"}}`)
	for _, c := range []struct {
		patch, level, data string
		code               int
		fault              string
	}{
		{`[{"op":"replace","path":"/data/x","value":"2","OP":"remove"}]`, "", `{"x":"2"}`, 200, `json patch unknown field "[0].OP"`},
		{`[{"op":"replace","path":"/data/x","value":"3","Path":"/data","VALUE":{"y":"1"}}]`, "Ignore", `{"x":"3"}`, 200, ""},
		{`[{"op":"replace","path":"/data/x","value":"4","From":"/data"}]`, "Strict", `{"x":"3"}`, 422, `strict decoding error: json patch unknown field "[0].From"`},
		{`[{"OP":"replace","path":"/data/x","value":"4"}]`, "Ignore", `{"x":"3"}`, 422, ""},
		{`[{"op":"replace","PATH":"/data/x","value":"4"}]`, "Ignore", `{"x":"3"}`, 422, ""},
	} {
		a := s.send(t, 0, "PATCH", configMaps+"/a?fieldValidation="+c.level, client.JSONPatch, c.patch)
		told := strings.Join(warnings(t, a), ", ")
		if message, _ := a.Object()["message"].(string); told == "" {
			told = message
		}
		if a.Code != c.code || !strings.Contains(told, c.fault) || c.fault == "" && a.Code == 200 && told != "" {
			t.Errorf("%s: %v, want %d %s", c.patch, a, c.code, c.fault)
		}
		if got := s.get(t, 200, configMaps+"/a").Object().Data("x"); `{"x":"`+got+`"}` != c.data {
			t.Errorf("%s: x is %s, want %s", c.patch, got, c.data)
		}
	}
}

// TestStrictPatch: what a patch brings in that a kind does not know makes the patch invalid.
func TestStrictPatch(t *testing.T) {
	t.Parallel()
	s := serveConventions(t, nil)
	s.send(t, 201, "POST", configMaps, client.JSON, `{"metadata":{"name":"a"},"data":{"x":"1"}}`)
	for contentType, patch := range map[string]string{
		client.MergePatch:       `{"nope":1,"data":{"x":"2"}}`,
		client.JSONPatch:        `[{"op":"add","path":"/nope","value":1}]`,
		conventionTypeStrategic: `{"nope":1,"data":{"x":"2"}}`,
	} {
		a := s.send(t, 422, "PATCH", configMaps+"/a?fieldValidation=Strict", contentType, patch)
		details, _ := a.Object()["details"].(map[string]any)
		causes, _ := details["causes"].([]any)
		if len(causes) != 1 {
			t.Fatalf("%s: %v", contentType, a)
		}
		cause := causes[0].(map[string]any)
		message, _ := cause["message"].(string)
		if cause["field"] != "patch" || cause["reason"] != "FieldValueInvalid" || !strings.HasSuffix(message, `strict decoding error: unknown field "nope"`) || a.Object()["reason"] != "Invalid" {
			t.Errorf("%s: %v", contentType, a)
		}
	}
	if got := s.get(t, 200, configMaps+"/a").Object().Data("x"); got != "1" {
		t.Errorf("x is %s", got)
	}
}
