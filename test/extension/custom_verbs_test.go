package extension

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

func TestCustomSubresources(t *testing.T) {
	t.Parallel()
	s := serveCustom(t, nil)
	s.define(customDefinition{
		schema: `{"type":"object","properties":{"spec":{"type":"object","properties":{"n":{"type":"integer"}}},"status":{"type":"object","properties":{"n":{"type":"integer"},"selector":{"type":"string"}}}}}`,
		more:   `,"subresources":{"status":{},"scale":{"specReplicasPath":".spec.n","statusReplicasPath":".status.n","labelSelectorPath":".status.selector"}}`,
	})
	o := s.create("a", `,"spec":{"n":1},"status":{"n":5}`)
	s.check("status of a create", part(o, "status"), `{"status":null}`)
	o = s.Send(200, "PATCH", widgets+"/a/status", client.MergePatch, `{"spec":{"n":9},"status":{"n":2,"selector":"x=y"}}`).Object()
	s.check("status", part(o, "spec")+part(o, "status"), `{"spec":{"n":1}}{"status":{"n":2,"selector":"x=y"}}`)
	s.Send(422, "PATCH", widgets+"/a/status", client.MergePatch, `{"status":{"n":"two"}}`)
	o = s.Send(200, "PATCH", widgets+"/a", client.MergePatch, `{"status":{"n":7}}`).Object()
	s.check("main", part(o, "status"), `{"status":{"n":2,"selector":"x=y"}}`)
	if generation := o.Metadata()["generation"].(float64); generation != 1 {
		t.Errorf("generation %v, want 1", generation)
	}
	scale := s.Send(200, "GET", widgets+"/a/scale", "", "").Object()
	s.check("scale", scale["apiVersion"].(string)+part(scale, "spec")+part(scale, "status"), `autoscaling/v1{"spec":{"replicas":1}}{"status":{"replicas":2,"selector":"x=y"}}`)
	// A Scale may be put without the version that an update of the object itself needs.
	s.Send(200, "PUT", widgets+"/a/scale", "application/json", `{"metadata":{"name":"a"},"spec":{"replicas":3}}`)
	s.Send(200, "PATCH", widgets+"/a/scale", client.MergePatch, `{"spec":{"replicas":3}}`)
	o = s.read("a")
	s.check("scaled", part(o, "spec"), `{"spec":{"n":3}}`)
	for method, body := range map[string]string{"PUT": `{"metadata":{"name":"a"},"spec":{"replicas":-1}}`, "PATCH": `{"spec":{"replicas":-1}}`} {
		contentType := map[string]string{"PUT": "application/json", "PATCH": client.MergePatch}[method]
		if f := s.Send(422, method, widgets+"/a/scale", contentType, body); !strings.Contains(f.String(), `Widget.example.com \"a\" is invalid: .spec.n: Invalid value: -1: should be a non-negative integer`) {
			t.Errorf("a negative scale: %s", f)
		}
	}
	if absent := s.Send(404, "GET", widgets+"/a/log", "", ""); !strings.Contains(absent.String(), `widgets.example.com \"a\" not found`) {
		t.Errorf("a sub-resource that the kind does not have: %s", absent)
	}
	if generation := o.Metadata()["generation"].(float64); generation != 2 {
		t.Errorf("generation %v, want 2", generation)
	}
}

// owners are the managers of an object with what they own.
func owners(o client.Object) string {
	var lines []string
	list, _ := o.Metadata()["managedFields"].([]any)
	for _, entry := range list {
		m := entry.(map[string]any)
		fields, _ := json.Marshal(m["fieldsV1"])
		lines = append(lines, m["manager"].(string)+" "+m["operation"].(string)+" "+string(fields))
	}
	return strings.Join(lines, "\n")
}

func TestApply(t *testing.T) {
	t.Parallel()
	s := serveCustom(t, nil)
	s.define(customDefinition{schema: sized})
	apply := func(code int, manager, spec string) client.Object {
		t.Helper()
		return s.Send(code, "PATCH", widgets+"/a?fieldManager="+manager, customTypeApply, widget("a", `,"spec":`+spec)).Object()
	}
	apply(201, "one", `{"size":1,"parts":[{"name":"a"},{"name":"b","n":5}],"free":{"x":{"y":1},"l":[1]},"list":["p"]}`)
	o := apply(200, "two", `{"size":1,"parts":[{"name":"c"}],"free":{"z":1},"list":["q"],"labels":{"k":"v"}}`)
	s.check("merged", part(o, "spec"), `{"spec":{"color":"red","free":{"l":[1],"x":{"y":1},"z":1},"labels":{"k":"v"},"list":["p","q"],"parts":[{"n":1,"name":"a"},{"n":5,"name":"b"},{"n":1,"name":"c"}],"size":1}}`)
	s.check("owners", owners(o), `one Apply {"f:spec":{"f:free":{"f:l":{},"f:x":{".":{},"f:y":{}}},"f:list":{"v:\"p\"":{}},"f:parts":{"k:{\"name\":\"a\"}":{".":{},"f:name":{}},"k:{\"name\":\"b\"}":{".":{},"f:n":{},"f:name":{}}},"f:size":{}}}
two Apply {"f:spec":{"f:free":{"f:z":{}},"f:labels":{"f:k":{}},"f:list":{"v:\"q\"":{}},"f:parts":{"k:{\"name\":\"c\"}":{".":{},"f:name":{}}},"f:size":{}}}`)
	conflict := apply(409, "two", `{"size":2}`)
	if !strings.Contains(conflict.String(), `.spec.size`) {
		t.Errorf("conflict: %s", conflict)
	}
	version := s.read("a").Version()
	apply(200, "two", `{"size":1,"parts":[{"name":"c"}],"free":{"z":1},"list":["q"],"labels":{"k":"v"}}`)
	if now := s.read("a").Version(); now != version {
		t.Errorf("an apply of the same is a write: %d after %d", now, version)
	}
	o = apply(200, "one", `{"size":1}`)
	s.check("given up", part(o, "spec"), `{"spec":{"color":"red","free":{"z":1},"labels":{"k":"v"},"list":["q"],"parts":[{"n":1,"name":"c"}],"size":1}}`)
	s.Send(400, "PATCH", widgets+"/a?fieldManager=one", customTypeApply, widget("a", `,"spec":{"size":1,"nope":1}`))
}

func TestFormats(t *testing.T) {
	t.Parallel()
	s := serveCustom(t, nil)
	s.define(customDefinition{schema: sized, more: `,"additionalPrinterColumns":[
		{"name":"Size","type":"integer","jsonPath":".spec.size"},
		{"name":"First","type":"string","jsonPath":".spec.parts[?(@.name==\"b\")].n"},
		{"name":"Label","type":"string","jsonPath":".metadata.labels.example\\.com/x"},
		{"name":"Age","type":"date","jsonPath":".metadata.creationTimestamp","priority":1}]`})
	s.Send(201, "POST", widgets, "application/yaml", "apiVersion: example.com/v1\nkind: Widget\nmetadata:\n  name: a\n  labels: {example.com/x: why}\nspec:\n  size: 3\n  parts:\n  - name: b\n    \"n\": 7\n")
	s.Send(415, "POST", widgets, "application/vnd.platform.protobuf", "k8s\x00")
	s.Send(415, "PATCH", widgets+"/a", "application/strategic-merge-patch+json", `{}`)
	s.Send(200, "PATCH", widgets+"/a", client.JSONPatch, `[{"op":"replace","path":"/spec/size","value":4},{"op":"add","path":"/spec/parts/-","value":{"name":"c"}}]`)
	table := s.accept(200, widgets, "application/json;as=Table;g=meta.platform.io;v=v1").String()
	for _, text := range []string{`"cells":["a",4,"7","why","`, `"name":"First"`, `"priority":1`} {
		if !strings.Contains(table, text) {
			t.Errorf("%s lacks %s", table, text)
		}
	}
	s.accept(406, widgets, "application/vnd.platform.protobuf")
	if got := s.accept(200, widgets, "application/vnd.platform.protobuf,application/json").Header.Get("Content-Type"); got != "application/json" {
		t.Errorf("content type %s", got)
	}
	s.accept(200, widgets, "application/vnd.platform.protobuf;as=PartialObjectMetadataList;g=meta.platform.io;v=v1")
	for _, path := range []string{"/openapi/v2", "/openapi/v3/apis/example.com/v1"} {
		if text := s.accept(200, path, "application/json").String(); !strings.Contains(text, "com.example.v1.Widget") {
			t.Errorf("%s has no widgets: %.300s", path, text)
		}
		version := path[len("/openapi/"):][:2]
		s.accept(200, path, "application/com.github.proto-openapi.spec."+version+".v1.0+protobuf")
	}
}

// accept reads a path in a format.
func (s customSession) accept(code int, path, format string) client.Answer {
	s.T.Helper()
	answer, err := s.GetAs(s.Ctx, path, format)
	if err != nil || answer.Code != code {
		s.T.Fatalf("%s as %s: %v, %v, want %d", path, format, answer, err, code)
	}
	return answer
}

func TestLists(t *testing.T) {
	t.Parallel()
	s := serveCustom(t, nil)
	s.define(customDefinition{schema: sized, more: `,"selectableFields":[{"jsonPath":".spec.color"},{"jsonPath":".spec.size"}]`})
	for _, name := range []string{"a", "b", "c", "d"} {
		s.create(name, `,"spec":{"size":2,"color":"`+map[bool]string{true: "red", false: "blue"}[name < "c"]+`"}`)
	}
	for selector, want := range map[string]int{"spec.color=red": 2, "spec.color!=red": 2, "spec.size=2": 4, "spec.size=2,spec.color=blue": 2, "metadata.name=a": 1} {
		list, err := s.List(s.Ctx, widgets, url.Values{"fieldSelector": {selector}})
		if err != nil || len(list.Items) != want {
			t.Errorf("%s: %d, %v, want %d", selector, len(list.Items), err, want)
		}
	}
	s.Send(400, "GET", widgets+"?fieldSelector=spec.note%3Dx", "", "")
	chunk, err := s.List(s.Ctx, "/apis/example.com/v1/widgets", url.Values{"limit": {"3"}})
	if err != nil || len(chunk.Items) != 3 || chunk.Continue == "" {
		t.Errorf("chunk: %v, %v", chunk, err)
	}
}

// TestSelectableFieldsOfVersions selects by fields that one version offers and the stored one does not.
func TestSelectableFieldsOfVersions(t *testing.T) {
	t.Parallel()
	s := serveCustom(t, nil)
	v2 := func(storage string) string {
		return `{"name":"v2","served":true,"storage":` + storage + `,"schema":{"openAPIV3Schema":` + sized + `},"selectableFields":[{"jsonPath":".spec.color"}]}`
	}
	for _, versions := range []string{
		`{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":` + sized + `}},` + v2("false"),
		`{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":` + sized + `},"selectableFields":[{"jsonPath":".spec.size"}]},` + v2("false"),
	} {
		if s.defineOrUpdate(customDefinition{versions: versions}) {
			s.create("red", `,"spec":{"size":2,"color":"blue"}`)
			s.create("a", `,"spec":{"size":3,"color":"red"}`)
		}
		for selector, want := range map[string]string{"spec.color=red": "a", "spec.color!=red": "red", "spec.color=": ""} {
			list, err := s.List(s.Ctx, strings.Replace(widgets, "/v1/", "/v2/", 1), url.Values{"fieldSelector": {selector}})
			got := ""
			for _, o := range list.Items {
				got += o.Name()
			}
			if err != nil || got != want {
				t.Errorf("%s: %s, %v, want %s", selector, got, err, want)
			}
		}
		s.Send(400, "GET", widgets+"?fieldSelector=spec.color%3Dred", "", "")
		s.Send(400, "GET", widgets+"?fieldSelector=%3Dred", "", "")
	}
}

// defineOrUpdate defines widgets, and tells whether they were not defined before.
func (s customSession) defineOrUpdate(d customDefinition) (first bool) {
	s.T.Helper()
	answer, err := s.Get(s.Ctx, customDefinitions+"/widgets.example.com")
	if err != nil {
		s.T.Fatal(err)
	}
	if answer.Code == 404 {
		s.define(d)
		return true
	}
	s.updateDefinition(d)
	return false
}
