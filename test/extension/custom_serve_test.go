package extension

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

const sized = `{"type":"object","properties":{
	"spec":{"type":"object","required":["size"],"properties":{
		"size":{"type":"integer","minimum":1,"maximum":10},
		"color":{"type":"string","enum":["red","blue"],"default":"red"},
		"note":{"type":"string","maxLength":5,"nullable":true},
		"list":{"type":"array","maxItems":2,"items":{"type":"string"},"x-platform-list-type":"set"},
		"parts":{"type":"array","x-platform-list-type":"map","x-platform-list-map-keys":["name"],"items":{"type":"object","required":["name"],"properties":{"name":{"type":"string"},"n":{"type":"integer","default":1}}}},
		"port":{"x-platform-int-or-string":true},
		"labels":{"type":"object","additionalProperties":{"type":"string"}},
		"free":{"type":"object","x-platform-preserve-unknown-fields":true}}},
	"status":{"type":"object","properties":{"ready":{"type":"boolean"},"replicas":{"type":"integer"}}}}}`

func TestServedAtOnce(t *testing.T) {
	t.Parallel()
	s := serveCustom(t, nil)
	for range 3 { // each life anew
		s.define(customDefinition{schema: sized, names: `,"shortNames":["wg"],"categories":["all"]`})
		o := s.create("a", `,"spec":{"size":1,"free":{"x":{"y":[1]}},"list":["a"],"note":null}`)
		s.check("spec", part(o, "spec"), `{"spec":{"color":"red","free":{"x":{"y":[1]}},"list":["a"],"note":null,"size":1}}`)
		for _, path := range []string{"/apis/example.com", "/apis/example.com/v1", widgets, "/openapi/v3/apis/example.com/v1", "/apis/example.com/v1/widgets?watch=1&timeoutSeconds=1"} {
			s.Send(200, "GET", path, "", "")
		}
		found := s.Send(200, "GET", "/apis/example.com/v1", "", "").String()
		if !strings.Contains(found, `"shortNames":["wg"]`) || !strings.Contains(found, `"kind":"Widget"`) {
			t.Errorf("discovery: %s", found)
		}
		status := part(s.Send(200, "GET", customDefinitions+"/widgets.example.com", "", "").Object(), "status")
		if strings.Count(status, `"status":"True"`) != 2 || !strings.Contains(status, `"listKind":"WidgetList"`) {
			t.Errorf("status: %s", status)
		}
		s.Send(200, "DELETE", customDefinitions+"/widgets.example.com", "", "")
		for _, path := range []string{widgets, widgets + "/a", "/apis/example.com/v1", customDefinitions + "/widgets.example.com"} {
			s.unknown(path)
		}
	}
}

func TestValidation(t *testing.T) {
	t.Parallel()
	s := serveCustom(t, nil)
	s.define(customDefinition{schema: sized, more: `,"subresources":{"status":{}}`})
	for _, test := range []struct{ spec, want string }{
		{`{"size":"x"}`, `spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"`},
		{`{}`, `spec.size: Required value`},
		{`{"size":0}`, `spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1`},
		{`{"size":11}`, `spec.size: Invalid value: 11: spec.size in body should be less than or equal to 10`},
		{`{"size":1.5}`, `spec.size: Invalid value: "number": spec.size in body must be of type integer: "number"`},
		{`{"size":1,"color":"green"}`, `spec.color: Unsupported value: "green": supported values: "red", "blue"`},
		{`{"size":1,"note":"too long"}`, `spec.note: Too long: may not be more than 5 bytes`},
		{`{"size":1,"list":["a","b","c"]}`, `spec.list: Too many: 3: must have at most 2 items`},
		{`{"size":1,"list":["a","a"]}`, `spec.list[1]: Duplicate value: "a"`},
		{`{"size":1,"list":{"a":1}}`, `spec.list: Invalid value: "object": spec.list in body must be of type array: "object"`},
		{`{"size":1,"parts":[{"name":"a"},{"name":"a"}]}`, `spec.parts[1]: Duplicate value: {"name":"a"}`},
		{`{"size":1,"parts":[{"n":2}]}`, `spec.parts[0].name: Required value`},
		{`{"size":1,"labels":{"a":1}}`, `spec.labels.a: Invalid value: "integer": spec.labels.a in body must be of type string: "integer"`},
		{`{"size":1,"port":true}`, `spec.port: Invalid value: "boolean": spec.port in body must be of type integer,string: "boolean"`},
		{`"x"`, `spec: Invalid value: "string": spec in body must be of type object: "string"`},
	} {
		answer := s.Send(422, "POST", widgets, client.JSON, widget("a", `,"spec":`+test.spec))
		message, _ := answer.Object()["message"].(string)
		s.check(test.spec, message, `Widget.example.com "a" is invalid: `+test.want)
	}
	for _, spec := range []string{`{"size":2.0,"port":80}`, `{"size":2,"port":"http","labels":{"a":"b"},"parts":[{"name":"a"},{"name":"b"}]}`, `{"size":3,"list":[],"free":{}}`} {
		s.create("ok", `,"spec":`+spec)
		s.Send(200, "DELETE", widgets+"/ok", "", "")
	}
}

func TestUnknownFields(t *testing.T) {
	t.Parallel()
	s := serveCustom(t, nil)
	s.define(customDefinition{schema: sized})
	body := widget("a", `,"spec":{"size":1,"nope":1,"parts":[{"name":"a","what":2}],"free":{"any":3}},"extra":{}`)
	answer := s.Send(400, "POST", widgets+"?fieldValidation=Strict", client.JSON, body)
	for _, text := range []string{`unknown field \"extra\"`, `unknown field \"spec.nope\"`, `unknown field \"spec.parts[0].what\"`} {
		if !strings.Contains(answer.String(), text) {
			t.Errorf("%s lacks %s", answer, text)
		}
	}
	answer = s.Send(201, "POST", widgets+"?fieldValidation=Warn", client.JSON, body)
	if n := len(answer.Header.Values("Warning")); n != 3 {
		t.Errorf("%d warnings, want 3: %v", n, answer.Header)
	}
	s.check("spec", part(answer.Object(), "spec"), `{"spec":{"color":"red","free":{"any":3},"parts":[{"n":1,"name":"a"}],"size":1}}`)
	s.check("extra", part(answer.Object(), "extra"), `{"extra":null}`)
	patched := s.Send(200, "PATCH", widgets+"/a", client.MergePatch, `{"spec":{"nope":1,"size":null,"parts":[{"name":"b","n":null}]},"x":1,"spec":{"size":2,"color":null,"nope":1}}`)
	s.check("patched", part(patched.Object(), "spec"), `{"spec":{"color":"red","free":{"any":3},"parts":[{"n":1,"name":"a"}],"size":2}}`)
	s.Send(422, "PATCH", widgets+"/a?fieldValidation=Strict", client.MergePatch, `{"spec":{"nope":1}}`)
}

// TestCustomMetrics: a series has one line, however often its kind is defined, and none when it is not.
func TestCustomMetrics(t *testing.T) {
	t.Parallel()
	s := serveCustom(t, nil)
	for range 2 {
		s.define(customDefinition{schema: sized})
		s.create("a", `,"spec":{"size":1}`)
		s.updateDefinition(customDefinition{})
		s.read("a")
		s.Send(200, "DELETE", customDefinitions+"/widgets.example.com", "", "")
	}
	if text := s.Send(200, "GET", "/metrics", "", "").String(); strings.Contains(text, "widgets") {
		t.Error("series of widgets that are not defined any more")
	}
	s.define(customDefinition{schema: sized})
	s.create("a", `,"spec":{"size":1}`)
	seen := map[string]bool{}
	for line := range strings.Lines(s.Send(200, "GET", "/metrics", "", "").String()) {
		series, _, _ := strings.Cut(line, "} ")
		if strings.Contains(series, "widgets") && !strings.HasPrefix(line, "#") {
			if seen[series] {
				t.Errorf("twice: %s", line)
			}
			seen[series] = true
		}
	}
	if len(seen) == 0 {
		t.Error("no series of widgets")
	}
}
