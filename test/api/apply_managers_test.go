package api

import (
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

// TestAskedManagers: what a client may say of managers. A list of one empty entry makes everybody forget
// what they own, before the rest of the request counts; an empty list does not, nor one that nobody
// can read.
func TestAskedManagers(t *testing.T) {
	t.Parallel()
	s := applySession{client.Open(t, nil)}
	const path = configMaps + "/a"
	const one = `one Apply {"f:data":{"f:x":{}}}`
	put := func(managed, y string) client.Object {
		body := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","managedFields":` + managed + `},"data":{"x":"1","y":"` + y + `"}}`
		return s.Send(200, "PUT", path+"?fieldManager=two", client.JSON, body).Object()
	}
	for name, reset := range map[string]func() client.Object{
		"update": func() client.Object { return put(`[{}]`, "9") },
		"merge patch": func() client.Object {
			return s.merge("two", path, `{"metadata":{"managedFields":[{}]},"data":{"y":"9"}}`)
		},
		"JSON patch": func() client.Object {
			return s.Send(200, "PATCH", path+"?fieldManager=two", client.JSONPatch,
				`[{"op":"replace","path":"/metadata/managedFields","value":[{}]},{"op":"add","path":"/data/y","value":"9"}]`).Object()
		},
	} {
		s.apply(201, "one", path, configMap("a", `"x":"1"`))
		for _, managed := range []string{`[]`, `null`, `[{"manager":"m"}]`, `[{"manager":"m","operation":"Update","fieldsType":"FieldsV1","fieldsV1":{"f:data":{}}}]`,
			`[{"manager":"m","operation":"Update","apiVersion":"v1","fieldsV1":{"f:data":{}}}]`} {
			s.owned(put(managed, managed[:1]), one, `two Update {"f:data":{"f:y":{}}}`)
		}
		t.Log(name)
		s.owned(reset(), `two Update {"f:data":{"f:y":{}}}`)
		s.Send(200, "DELETE", path, "", "")
	}
	for _, managed := range []string{`[]`, `[{}]`} {
		made := s.Send(201, "POST", configMaps+"?fieldManager=two", client.JSON,
			`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b","managedFields":`+managed+`},"data":{"x":"1"}}`).Object()
		s.owned(made, `two Update {"f:data":{".":{},"f:x":{}}}`)
		s.Send(200, "DELETE", configMaps+"/b", "", "")
	}
}

// TestNobodysFields: a create owns nothing of what it may not say.
func TestNobodysFields(t *testing.T) {
	t.Parallel()
	s := applySession{client.Open(t, nil)}
	made := s.Send(201, "POST", configMaps+"?fieldManager=one", client.JSON, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","deletionTimestamp":"2020-01-01T00:00:00Z",
		"deletionGracePeriodSeconds":3,"generation":7,"selfLink":"/x"},"data":{"x":"1"}}`).Object()
	s.owned(made, `one Update {"f:data":{".":{},"f:x":{}}}`)
	s.has(made, map[string]string{"metadata.deletionTimestamp": "null"})
}
