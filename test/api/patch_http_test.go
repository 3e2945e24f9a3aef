package api

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/troupe-api/troupe/test/client"
)

const (
	patchTypeStrategic = "application/strategic-merge-patch+json"
	deployments        = "/apis/apps/v1/namespaces/default/deployments"
)

// field is a part of an object as JSON.
func field(o client.Object, names ...string) string {
	var v any = map[string]any(o)
	for _, name := range names {
		t, _ := v.(map[string]any)
		v = t[name]
	}
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func TestJSONPatch(t *testing.T) {
	t.Parallel()
	s := client.Open(t, nil)
	s.Send(201, "POST", configMaps, client.JSON, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","annotations":{"b/c":"2"}},"data":{"a":"1"}}`)
	path := configMaps + "/a"
	for _, c := range []struct {
		patch string
		code  int
		want  string // the data afterwards, or part of the message
	}{
		{`[{"op":"add","path":"/data/x","value":"9"}]`, 200, `{"a":"1","x":"9"}`},
		{`[{"op":"remove","path":"/data/x"}]`, 200, `{"a":"1"}`},
		{`[{"op":"move","from":"/metadata/annotations/b~1c","path":"/data/b"}]`, 200, `{"a":"1","b":"2"}`},
		{`[{"op":"test","path":"/data/a","value":"1"},{"op":"copy","from":"/data/a","path":"/data/f"}]`, 200, `{"a":"1","b":"2","f":"1"}`},
		{`[{"op":"move","from":"/data/f","path":"/data/g"}]`, 200, `{"a":"1","b":"2","g":"1"}`},
		{`[{"op":"remove","path":"/data/g"},{"op":"test","path":"/data/a","value":"2"}]`, 422, "the server rejected our request due to an error in our request"},
		{`[{"op":"test","path":"/data/a","value":"1"},{"op":"remove","path":"/data/none"}]`, 422, `operation 1 (remove \"/data/none\"): there is no value at this path`},
		{`[{"op":"test","path":"/data/a","value":"2"}]`, 422, `operation 0 (test \"/data/a\"): the value is another one`},
		{`[{"op":"test","path":"/data/none","value":"1"}]`, 422, `operation 0 (test \"/data/none\"): there is no value at this path`},
		{`[{"op":"test","path":"/none/none","value":null}]`, 422, `operation 0 (test \"/none/none\"): there is no value at this path`},
		{`[{"op":"replace","path":"/data/none","value":"1"}]`, 200, `{"a":"1","b":"2","g":"1","none":"1"}`},
		{`[{"op":"remove","path":"/data/none"}]`, 200, `{"a":"1","b":"2","g":"1"}`},
		{`[{"op":"replace","path":"/none/none","value":"1"}]`, 422, `operation 0 (replace \"/none/none\")`},
		{`[{"op":"dance","path":"/data/a"}]`, 422, `operation 0 (\"dance\" \"/data/a\"): unknown operation`},
		{`[{"op":"replace","path":"/kind","value":"Secret"}]`, 422, "the kind in the patched object does not match"},
		{`[{"op":"replace","path":"/apiVersion","value":"v2"}]`, 422, "the apiVersion in the patched object does not match"},
		{`[{"op":"add"}]`, 422, ""},
		{`{"op":"add"}`, 400, ""},
		{`[`, 400, ""},
		{`[{"op":"add","path":"/data/n","value":3}]`, 422, "Invalid value"},
		{`[` + strings.TrimSuffix(strings.Repeat(`{"op":"test","path":"/data/a","value":"1"},`, 10000), ",") + `]`, 200, `{"a":"1","b":"2","g":"1"}`},
		{`[` + strings.TrimSuffix(strings.Repeat(`{"op":"test","path":"/data/a","value":"1"},`, 10001), ",") + `]`, 413, "10000"},
		{doubling(40), 413, "copies"},
	} {
		name := c.patch[:min(len(c.patch), 200)]
		answer, err := s.Do(s.Ctx, "PATCH", path, client.JSONPatch, []byte(c.patch))
		if err != nil || answer.Code != c.code {
			t.Errorf("%s: %v %.300v, want %d", name, err, answer, c.code)
			continue
		}
		got := field(answer.Object(), "data")
		if c.code != 200 {
			got = field(answer.Object(), "message")
		}
		if c.code == 200 && got != c.want || !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// doubling copies an object into itself again and again.
func doubling(times int) string {
	var copies []string
	for i := range times {
		copies = append(copies, fmt.Sprintf(`{"op":"copy","from":"/data","path":"/data/z%d"}`, i))
	}
	return "[" + strings.Join(copies, ",") + "]"
}

// TestWrongTypes checks that the rejection of a strategic merge patch shows the patch, not the object, and has the text of the public
// library.
func TestWrongTypes(t *testing.T) {
	t.Parallel()
	s := client.Open(t, nil)
	s.Send(201, "POST", deployments, client.JSON, `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a","annotations":{"a":"hidden"}},"spec":{"selector":{"matchLabels":{"a":"b"}},
		"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"a","image":"a"}]}}}}`)
	for _, patch := range []string{
		`{"metadata":{"labels":"x"}}`,
		`{"metadata":{"labels":7}}`,
		`{"metadata":{"labels":{"a":[]}}}`,
		`{"metadata":{"labels":{"a":1}}}`,
		`{"metadata":{"labels":{"a":1.5}}}`,
		`{"metadata":{"finalizers":"x"}}`,
		`{"metadata":{"finalizers":1.5}}`,
		`{"spec":{"selector":[true]}}`,
		`{"spec":{"selector":true}}`,
		`{"spec":{"replicas":"3"}}`,
		`{"spec":{"replicas":1.5}}`,
		`{"spec":{"paused":1}}`,
		`{"spec":{"paused":{}}}`,
		`{"spec":{"template":{"spec":{"nodeName":true}}}}`,
		`{"spec":{"template":{"spec":{"securityContext":"x"}}}}`,
	} {
		var object map[string]any
		if err := utiljson.Unmarshal([]byte(patch), &object); err != nil {
			t.Fatal(err)
		}
		err := runtime.DefaultUnstructuredConverter.FromUnstructured(object, new(appsv1.Deployment))
		if err == nil {
			t.Fatalf("%s: accepted by the library", patch)
		}
		want := fmt.Sprintf(" \"\" is invalid: patch: Invalid value: %q: %s", fmt.Sprintf("%+v", object), err)
		if got := s.Send(422, "PATCH", deployments+"/a", patchTypeStrategic, patch).Object()["message"]; got != want {
			t.Errorf("%s:\n%s, want\n%s", patch, got, want)
		}
	}
	got := field(s.Send(422, "PATCH", deployments+"/a?fieldValidation=Strict", patchTypeStrategic, `{"metadata":{"other":"x"}}`).Object(), "message")
	if strings.Contains(got, "hidden") || !strings.Contains(got, "map[metadata:map[other:x]]") || !strings.Contains(got, "unknown field") {
		t.Errorf("unknown field: %s", got)
	}
}

// TestKindIsImmutable: no patch makes another kind of an object. A strategic one says what it likes of it; others are refused, and so
// is one that leaves no version. The kind may be left out.
func TestKindIsImmutable(t *testing.T) {
	t.Parallel()
	s := client.Open(t, nil)
	before := s.Send(201, "POST", configMaps, client.JSON, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}`).Object()
	const mismatch, noName = "does not match the expected", "the name of the object (a based on URL) was undeterminable"
	for _, c := range []struct {
		patch            string
		merge, strategic int
		want             string // part of the message
	}{
		{`{"kind":"Secret"}`, 422, 200, mismatch},
		{`{"apiVersion":"apps/v1"}`, 422, 200, mismatch},
		{`{"apiVersion":"a/b/c","kind":"Deployment"}`, 422, 200, mismatch},
		{`{"kind":7}`, 422, 422, mismatch},
		{`{"apiVersion":[]}`, 422, 422, mismatch},
		{`{"apiVersion":null}`, 400, 200, noName},
		{`{"apiVersion":"","kind":null}`, 400, 200, noName},
		{`{"kind":null}`, 200, 200, ""},
		{`{"kind":""}`, 200, 200, ""},
		{`{"kind":"ConfigMap","apiVersion":"v1"}`, 200, 200, ""},
	} {
		for contentType, code := range map[string]int{client.MergePatch: c.merge, patchTypeStrategic: c.strategic} {
			message := field(s.Send(code, "PATCH", configMaps+"/a", contentType, c.patch).Object(), "message")
			if code != 200 && !strings.Contains(message, c.want) {
				t.Errorf("%s %s: %s", contentType, c.patch, message)
			}
		}
	}
	s.Send(400, "PATCH", configMaps+"/a", client.JSONPatch, `[{"op":"remove","path":"/apiVersion"}]`)
	if now := s.Send(200, "GET", configMaps+"/a", "", "").Object(); now.String() != before.String() {
		t.Errorf("%v has become %v", before, now)
	}
}

func TestPreconditions(t *testing.T) {
	t.Parallel()
	s := client.Open(t, nil)
	made := s.Send(201, "POST", configMaps, client.JSON, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"a":"1"}}`).Object()
	version := field(made, "metadata", "resourceVersion")
	path := configMaps + "/a"
	patches := map[string]string{
		client.MergePatch:  `{"metadata":{"resourceVersion":VERSION},"data":{"n":"VALUE"}}`,
		patchTypeStrategic: `{"metadata":{"resourceVersion":VERSION},"data":{"n":"VALUE"}}`,
		client.JSONPatch:   `[{"op":"add","path":"/metadata/resourceVersion","value":VERSION},{"op":"add","path":"/data/n","value":"VALUE"}]`,
	}
	for contentType, patch := range patches {
		patch = strings.Replace(patch, "VALUE", contentType, 1)
		next := s.Send(200, "PATCH", path, contentType, strings.Replace(patch, "VERSION", version, 1)).Object()
		s.Send(409, "PATCH", path, contentType, strings.Replace(patch, "VERSION", version, 1))
		version = field(next, "metadata", "resourceVersion")
	}
	s.Send(422, "PATCH", path, client.MergePatch, `{"metadata":{"resourceVersion":"x"}}`)
	s.Send(404, "PATCH", configMaps+"/none", client.MergePatch, `{}`)
}

func TestTypes(t *testing.T) {
	t.Parallel()
	s := client.Open(t, nil)
	s.Send(201, "POST", configMaps, client.JSON, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}`)
	for _, contentType := range []string{client.JSON, "text/plain", "application/json-patch", ""} {
		refused := s.Send(415, "PATCH", configMaps+"/a", contentType, `{}`).Object()
		for _, accepted := range []string{client.JSONPatch, client.MergePatch, patchTypeStrategic, "application/apply-patch+yaml"} {
			if !strings.Contains(field(refused, "message"), accepted) {
				t.Errorf("%q: %v does not name %s", contentType, refused, accepted)
			}
		}
	}
	s.Send(200, "PATCH", configMaps+"/a", client.MergePatch+"; charset=utf-8", `{}`)
	for _, contentType := range []string{client.MergePatch, patchTypeStrategic} {
		for _, bad := range []string{`[]`, `3`, ``, `{`} {
			s.Send(400, "PATCH", configMaps+"/a", contentType, bad)
		}
	}
	s.Send(400, "PATCH", configMaps+"/a", client.MergePatch, `null`)
	s.Send(200, "PATCH", configMaps+"/a", patchTypeStrategic, `null`) // changes nothing, as clients know it
}

const patchDeployment = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"replicas":2,"selector":{"matchLabels":{"a":"b"}},` +
	`"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i","ports":[{"containerPort":1}]},{"name":"d","image":"j"}]}}}}`

func TestStrategic(t *testing.T) {
	t.Parallel()
	s := client.Open(t, nil)
	s.Send(201, "POST", deployments, client.JSON, patchDeployment)
	path := deployments + "/d"
	images := func(o client.Object) string {
		var out []string
		template := o["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)
		for _, c := range template["containers"].([]any) {
			out = append(out, c.(map[string]any)["name"].(string)+"="+c.(map[string]any)["image"].(string))
		}
		return strings.Join(out, " ")
	}
	for _, c := range []struct{ pods, want string }{
		{`"containers":[{"name":"d","image":"k"}]`, "c=i d=k"},
		{`"containers":[{"name":"e","image":"l"}],"$setElementOrder/containers":[{"name":"c"},{"name":"e"},{"name":"d"}]`, "c=i e=l d=k"},
		{`"containers":[{"name":"d","$patch":"delete"}]`, "c=i e=l"},
		{`"containers":[{"$patch":"replace"},{"name":"f","image":"m"}]`, "f=m"},
	} {
		got := s.Send(200, "PATCH", path, patchTypeStrategic, `{"spec":{"template":{"spec":{`+c.pods+`}}}}`).Object()
		if images(got) != c.want {
			t.Errorf("%s: %s, want %s", c.pods, images(got), c.want)
		}
	}
	recreate := s.Send(200, "PATCH", path, patchTypeStrategic, `{"spec":{"strategy":{"$retainKeys":["type"],"type":"Recreate"}}}`).Object()
	if got := field(recreate, "spec", "strategy"); got != `{"type":"Recreate"}` {
		t.Errorf("the strategy is %s", got)
	}
	s.Send(400, "PATCH", path, patchTypeStrategic, `{"spec":{"$patch":"dance"}}`)
}

func TestSubresources(t *testing.T) {
	t.Parallel()
	s := client.Open(t, nil)
	s.Send(201, "POST", deployments, client.JSON, patchDeployment)
	path := deployments + "/d"
	// The JSON patch comes first: its pointer leads into a status that nobody has written yet.
	for _, p := range []struct{ contentType, patch string }{
		{client.JSONPatch, `[{"op":"add","path":"/status/observedGeneration","value":4},{"op":"replace","path":"/spec/replicas","value":7}]`},
		{client.MergePatch, `{"spec":{"replicas":7},"status":{"replicas":3}}`},
		{patchTypeStrategic, `{"spec":{"replicas":7},"status":{"conditions":[{"type":"Available","status":"True"}]}}`},
	} {
		if got := field(s.Send(200, "PATCH", path+"/status", p.contentType, p.patch).Object(), "spec", "replicas"); got != "2" {
			t.Errorf("%s: a patch of the status made %s replicas", p.contentType, got)
		}
	}
	status := s.Send(200, "GET", path, "", "").Object()
	for name, want := range map[string]string{"replicas": "3", "observedGeneration": "4"} {
		if got := field(status, "status", name); got != want {
			t.Errorf("status.%s is %s, want %s", name, got, want)
		}
	}
	if got := field(status, "status", "conditions"); !strings.Contains(got, "Available") {
		t.Errorf("the conditions are %s", got)
	}
	for contentType, patch := range map[string]string{
		client.MergePatch: `{"spec":{"replicas":4}}`, patchTypeStrategic: `{"spec":{"replicas":4}}`,
		client.JSONPatch: `[{"op":"test","path":"/status/replicas","value":3},{"op":"replace","path":"/spec/replicas","value":4}]`,
	} {
		scale := s.Send(200, "PATCH", path+"/scale", contentType, patch).Object()
		if field(scale, "kind") != `"Scale"` || field(scale, "spec", "replicas") != "4" {
			t.Errorf("%s of the scale: %v", contentType, scale)
		}
		s.Send(200, "PATCH", path, client.MergePatch, `{"spec":{"replicas":1}}`)
	}
}

func TestPatchFieldValidation(t *testing.T) {
	t.Parallel()
	s := client.Open(t, nil)
	s.Send(201, "POST", configMaps, client.JSON, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}`)
	for contentType, patch := range map[string]string{
		client.MergePatch: `{"date":{"a":"b"}}`, patchTypeStrategic: `{"date":{"a":"b"}}`, client.JSONPatch: `[{"op":"add","path":"/date","value":{}}]`,
	} {
		path := configMaps + "/a"
		if answer := s.Send(200, "PATCH", path, contentType, patch); !strings.Contains(answer.Header.Get("Warning"), `unknown field`) {
			t.Errorf("%s: the warning is %q", contentType, answer.Header.Get("Warning"))
		}
		if answer := s.Send(200, "PATCH", path+"?fieldValidation=Ignore", contentType, patch); answer.Header.Get("Warning") != "" {
			t.Errorf("%s: there is a warning", contentType)
		}
		refused := s.Send(422, "PATCH", path+"?fieldValidation=Strict", contentType, patch).Object()
		if !strings.Contains(field(refused, "message"), "unknown field") {
			t.Errorf("%s: %v", contentType, refused)
		}
	}
	for _, contentType := range []string{client.MergePatch, patchTypeStrategic} {
		const patch = `{"data":{"x":"1","x":"2"}}`
		if answer := s.Send(200, "PATCH", configMaps+"/a", contentType, patch); !strings.Contains(answer.Header.Get("Warning"), `duplicate field \"data.x\"`) {
			t.Errorf("%s: the warning is %q", contentType, answer.Header.Get("Warning"))
		}
		s.Send(422, "PATCH", configMaps+"/a?fieldValidation=Strict", contentType, patch)
	}
}

// TestRefusedPatchShowsNoStoredData: the error of a patch whose result is no valid object shows the patch.
func TestRefusedPatchShowsNoStoredData(t *testing.T) {
	t.Parallel()
	s := client.Open(t, nil)
	const secrets = "/api/v1/namespaces/default/secrets"
	s.Send(201, "POST", secrets, client.JSON, `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"},"data":{"password":"aHVudGVyMg=="}}`)
	for _, c := range []struct{ contentType, patch, shown string }{
		{patchTypeStrategic, `{"metadata":{"labels":"x"}}`, `"map[metadata:map[labels:x]]": cannot restore map from string`},
		{patchTypeStrategic, `{"dates":1}`, `"map[dates:1]": strict decoding error: unknown field "dates"`},
		{client.MergePatch, `{"metadata":{"labels":"x"}}`, `"{\"metadata\":{\"labels\":\"x\"}}": json: cannot unmarshal string`},
		{client.MergePatch, `{"kind":"Foo"}`, `"{\"kind\":\"Foo\"}": the kind in the patched object does not match`},
		{client.JSONPatch, `[{"op":"add","path":"/data/b","value":5}]`, `"[{\"op\":\"add\",\"path\":\"/data/b\",\"value\":5}]": json: cannot unmarshal number`},
		{client.JSONPatch, `[{"op":"copy","from":"/data","path":"/dates"}]`, `strict decoding error: unknown field "dates"`},
	} {
		answer := s.Send(422, "PATCH", secrets+"/a?fieldValidation=Strict", c.contentType, c.patch)
		if message, _ := answer.Object()["message"].(string); !strings.Contains(message, c.shown) || strings.Contains(string(answer.Body), "aHVudGVyMg") {
			t.Errorf("%s %s: %s", c.contentType, c.patch, message)
		}
	}
}
