package api

import (
	"slices"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

func TestCreateWhenAbsent(t *testing.T) {
	t.Parallel()
	s := applySession{client.Open(t, nil)}
	made := s.apply(201, "one", configMaps+"/a", configMap("a", `"x":"1"`))
	s.owned(made, `one Apply {"f:data":{"f:x":{}}}`)
	s.has(made, map[string]string{"data": `{"x":"1"}`, "metadata.namespace": `"default"`,
		"metadata.managedFields.0.apiVersion": `"v1"`, "metadata.managedFields.0.fieldsType": `"FieldsV1"`,
		"metadata.managedFields.0.time": valueAt(made, "metadata.creationTimestamp")})
	yaml := "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: b\n  labels: {l: m}\ndata:\n  x: |\n    two\n    lines\n"
	s.owned(s.apply(201, "one", configMaps+"/b", yaml), `one Apply {"f:data":{"f:x":{}},"f:metadata":{"f:labels":{"f:l":{}}}}`)
	s.apply(200, "one", configMaps+"/b", yaml)
}

func TestConflict(t *testing.T) {
	t.Parallel()
	s := applySession{client.Open(t, nil)}
	path := configMaps + "/a"
	s.apply(201, "one", path, configMap("a", `"x":"1","y":"1"`))
	s.apply(200, "two", path, configMap("a", `"y":"1","z":"1"`))
	s.merge("three", path, `{"data":{"u":"1"}}`)
	got := s.apply(409, "four", path, configMap("a", `"x":"2","y":"2","u":"2","new":"2"`))
	s.has(got, map[string]string{"reason": `"Conflict"`, "details.causes": `[` +
		`{"field":".data.x","message":"conflict with \"one\"","reason":"FieldManagerConflict"},` +
		`{"field":".data.y","message":"conflict with \"one\"","reason":"FieldManagerConflict"},` +
		`{"field":".data.u","message":"conflict with \"three\" using v1","reason":"FieldManagerConflict"},` +
		`{"field":".data.y","message":"conflict with \"two\"","reason":"FieldManagerConflict"}]`})
	if m, _ := got["message"].(string); !strings.HasPrefix(m, `Apply failed with 4 conflicts: conflicts with "one":`) {
		t.Errorf("the message is %s", m)
	}
	s.has(s.get(path), map[string]string{"data": `{"u":"1","x":"1","y":"1","z":"1"}`})

	forced := s.apply(200, "four&force=true", path, configMap("a", `"x":"2","y":"2","u":"2"`))
	s.has(forced, map[string]string{"data": `{"u":"2","x":"2","y":"2","z":"1"}`})
	s.owned(forced, `four Apply {"f:data":{"f:u":{},"f:x":{},"f:y":{}}}`, `two Apply {"f:data":{"f:z":{}}}`)
	s.apply(409, "one", path, configMap("a", `"x":"1"`))
}

func TestSharedOwnership(t *testing.T) {
	t.Parallel()
	s := applySession{client.Open(t, nil)}
	path := configMaps + "/a"
	s.apply(201, "one", path, configMap("a", `"x":"1"`))
	s.owned(s.apply(200, "two", path, configMap("a", `"x":"1"`)), `one Apply {"f:data":{"f:x":{}}}`, `two Apply {"f:data":{"f:x":{}}}`)
	s.apply(409, "one", path, configMap("a", `"x":"2"`))
	// Who gives a shared field up leaves its value; the last one takes it along.
	left := s.apply(200, "one", path, configMap("a"))
	s.has(left, map[string]string{"data": `{"x":"1"}`})
	s.owned(left, `two Apply {"f:data":{"f:x":{}}}`)
	s.has(s.apply(200, "two", path, configMap("a")), map[string]string{"data": `null`})
}

func TestUpdatesTakeOwnership(t *testing.T) {
	t.Parallel()
	s := applySession{client.Open(t, nil)}
	path := configMaps + "/a"
	o := s.apply(201, "one", path, configMap("a", `"x":"1","y":"1","z":"1"`))
	delete(o.Metadata(), "managedFields")
	o["data"] = map[string]any{"x": "2", "y": "1", "z": "1"}
	updated := s.Send(200, "PUT", path+"?fieldManager=put", client.JSON, o.String()).Object()
	s.owned(updated, `one Apply {"f:data":{"f:y":{},"f:z":{}}}`, `put Update {"f:data":{"f:x":{}}}`)
	patched := s.Send(200, "PATCH", path+"?fieldManager=patch", client.JSONPatch, `[{"op":"replace","path":"/data/y","value":"2"}]`).Object()
	s.owned(patched, `one Apply {"f:data":{"f:z":{}}}`, `patch Update {"f:data":{"f:y":{}}}`, `put Update {"f:data":{"f:x":{}}}`)
	// A field that an update removes has no owner afterwards, and the update does not own the map that it was in.
	s.owned(s.merge("gone", path, `{"data":{"z":null}}`), `patch Update {"f:data":{"f:y":{}}}`, `put Update {"f:data":{"f:x":{}}}`)
	// The one who applied does not name what others took: it stays.
	s.has(s.apply(200, "one", path, configMap("a", `"new":"1"`)), map[string]string{"data": `{"new":"1","x":"2","y":"2"}`})
}

func TestManagerFromUserAgent(t *testing.T) {
	t.Parallel()
	s := applySession{client.Open(t, nil)}
	made := s.create(configMaps, configMap("a", `"x":"1"`))
	s.owned(made, `Go-http-client Update {"f:data":{".":{},"f:x":{}}}`)
	s.create(configMaps+"?fieldManager=me", configMap("b", `"x":"1"`))
	s.owned(s.get(configMaps+"/b"), `me Update {"f:data":{".":{},"f:x":{}}}`)
	long := strings.Repeat("m", 128)
	s.create(configMaps+"?fieldManager="+long, configMap("c", ``))
	for _, bad := range []string{long + "m", "a%07b", "a%0Ab"} {
		s.Send(422, "POST", configMaps+"?fieldManager="+bad, client.JSON, configMap("d", ``))
	}
}

func TestManyAppliersNeverConflict(t *testing.T) {
	t.Parallel()
	s := applySession{client.Open(t, nil)}
	path := configMaps + "/a"
	done := make(chan string)
	names := []string{"a", "b", "c", "d", "e", "f", "g", "h"}
	for _, name := range names {
		go func() {
			for range 5 {
				answer, err := s.Do(s.Ctx, "PATCH", path+"?fieldManager="+name, applyTypeApply, []byte(configMap("a", `"`+name+`":"1"`)))
				if err != nil || answer.Code != 200 && answer.Code != 201 {
					done <- answer.String()
					return
				}
			}
			done <- ""
		}()
	}
	for range names {
		if fault := <-done; fault != "" {
			t.Error(fault)
		}
	}
	var want []string
	for _, name := range names {
		want = append(want, name+` Apply {"f:data":{"f:`+name+`":{}}}`)
	}
	slices.Sort(want)
	s.owned(s.get(path), want...)
}
