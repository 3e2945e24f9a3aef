package api

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

func TestNothingChanges(t *testing.T) {
	t.Parallel()
	s := applySession{client.Open(t, nil)}
	path := applyDeployment + "/d"
	config := deploy("d", `"replicas":2`, `"containers":[{"name":"c","image":"i","resources":{"limits":{"cpu":"1000m"}}}]`)
	made := s.apply(201, "one", path, config)
	if again := s.apply(200, "one", path, config); again.String() != made.String() {
		t.Errorf("%v\nhas become\n%v", made, again)
	}
	if again := s.merge("two", path, `{"spec":{"replicas":2}}`); again.String() != made.String() {
		t.Errorf("a patch without change made\n%v\nof\n%v", again, made)
	}
	// A new owner of old values is a change.
	if shared := s.apply(200, "two", path, part("d", `"replicas":2`)); shared.Version() == made.Version() {
		t.Error("a shared field did not make a new version")
	}
}

func TestReset(t *testing.T) {
	t.Parallel()
	s := applySession{client.Open(t, nil)}
	for name, reset := range map[string]func(path string) client.Object{
		"merge patch": func(path string) client.Object {
			return s.merge("r", path, `{"metadata":{"managedFields":[{}]}}`)
		},
		"JSON patch": func(path string) client.Object {
			return s.Send(200, "PATCH", path+"?fieldManager=r", client.JSONPatch, `[{"op":"replace","path":"/metadata/managedFields","value":[{}]}]`).Object()
		},
		"update": func(path string) client.Object {
			o := s.get(path)
			o.Metadata()["managedFields"] = []any{map[string]any{}}
			return s.Send(200, "PUT", path+"?fieldManager=r", client.JSON, o.String()).Object()
		},
	} {
		object := strings.ToLower(strings.ReplaceAll(name, " ", "-"))
		path := configMaps + "/" + object
		s.apply(201, "one", path, configMap(object, `"x":"1"`))
		after := reset(path)
		if valueAt(after, "metadata.managedFields") != "null" {
			t.Errorf("%s: the owners are %s", name, ownersApply(after))
		}
		// Now the first apply finds what was there before it.
		s.owned(s.apply(200, "two", path, configMap(object, `"y":"1"`)), `before-first-apply Update {"f:data":{".":{},"f:x":{}}}`, `two Apply {"f:data":{"f:y":{}}}`)
	}
	path := configMaps + "/update"
	before := s.get(path)
	s.owned(s.merge("r", path, `{"metadata":{"managedFields":[]}}`), strings.Split(ownersApply(before), "\n")...)
	s.owned(s.merge("r", path, `{"metadata":{"managedFields":null}}`), strings.Split(ownersApply(before), "\n")...)
	// The reset comes first: the writer owns what else it writes.
	s.owned(s.merge("r", path, `{"metadata":{"managedFields":[{}]},"data":{"z":"1"}}`), `r Update {"f:data":{"f:z":{}}}`)
}

func TestWrittenManagers(t *testing.T) {
	t.Parallel()
	s := applySession{client.Open(t, nil)}
	path := configMaps + "/a"
	s.apply(201, "one", path, configMap("a", `"x":"1"`))
	renamed := s.Send(200, "PATCH", path, client.JSONPatch, `[{"op":"replace","path":"/metadata/managedFields/0/manager","value":"two"}]`).Object()
	s.owned(renamed, `two Apply {"f:data":{"f:x":{}}}`)
	s.has(s.apply(200, "two", path, configMap("a", `"y":"1"`)), map[string]string{"data": `{"y":"1"}`})
	for _, bad := range []string{
		`[{"op":"replace","path":"/metadata/managedFields/0/fieldsV1","value":{"f:data":3}}]`,
		`[{"op":"replace","path":"/metadata/managedFields/0/operation","value":"Dance"}]`,
	} {
		answer, err := s.Do(s.Ctx, "PATCH", path, client.JSONPatch, []byte(bad))
		if err != nil || answer.Code != 200 && answer.Code != 422 && answer.Code != 400 {
			t.Errorf("%s: %v %v", bad, answer, err)
		}
		s.owned(s.get(path), `two Apply {"f:data":{"f:y":{}}}`)
	}
}

func TestOldUpdatersAreJoined(t *testing.T) {
	t.Parallel()
	s := applySession{client.Open(t, nil)}
	path := configMaps + "/a"
	s.create(configMaps+"?fieldManager=first", configMap("a", `"x":"1"`))
	for _, name := range strings.Split("abcdefghijklmno", "") {
		s.merge(name, path, `{"data":{"`+name+`":"1"}}`)
	}
	o := s.get(path)
	list, _ := o.Metadata()["managedFields"].([]any)
	if len(list) != 10 || !strings.Contains(ownersApply(o), "ancient-changes Update") {
		t.Errorf("the owners are %d:\n%s", len(list), ownersApply(o))
	}
}
