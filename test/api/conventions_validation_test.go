package api

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/troupe-api/troupe/test/client"
)

// The media types of bodies besides those of package client.
const (
	typeYAML                = "application/yaml"
	typeProtobuf            = "application/vnd.platform.protobuf"
	conventionTypeStrategic = "application/strategic-merge-patch+json"
	conventionTypeApply     = "application/apply-patch+yaml"
)

// warnings are the texts of the Warning headers.
func warnings(t testing.TB, a client.Answer) (texts []string) {
	t.Helper()
	for _, h := range a.Header.Values("Warning") {
		text, ok := strings.CutPrefix(h, `299 - "`)
		if !ok || !strings.HasSuffix(text, `"`) {
			t.Errorf("Warning: %s", h)
		}
		texts = append(texts, strings.ReplaceAll(strings.TrimSuffix(text, `"`), `\"`, `"`))
	}
	return texts
}

// protobufMap is a ConfigMap in Protobuf with fields of numbers that it does not have, one
// of them within its metadata.
func protobufMap(name string) string {
	field := func(b []byte, n protowire.Number, value string) []byte {
		return protowire.AppendString(protowire.AppendTag(b, n, protowire.BytesType), value)
	}
	meta := field(field(nil, 1, name), 900, "x")
	raw := field(field(nil, 1, string(meta)), 901, "y")
	types := field(field(nil, 1, "v1"), 2, "ConfigMap")
	return "k8s\x00" + string(field(field(nil, 1, string(types)), 2, string(raw)))
}

// TestConventionFieldValidation: unknown and duplicate fields in each format of each write, with
// their paths: ignored, warned of by default, or refused all at once. A warning changes
// nothing, a refusal leaves no trace.
func TestConventionFieldValidation(t *testing.T) {
	t.Parallel()
	s := serveConventions(t, nil)
	const pods = "/api/v1/namespaces/default/pods"
	const head = `"kind":"ConfigMap","apiVersion":"v1",`
	for _, c := range []struct {
		name, method, path, contentType, body string
		faults                                []string
		prefix                                string // of the one fault of Strict
	}{
		{"JSON", "POST", configMaps, client.JSON, `{` + head + `"nope":1,"metadata":{"name":"{n}","name":"{n}","labels":{"a":"1","a":"2"},"foo":{}},"Data":{}}`,
			[]string{`unknown field "nope"`, `duplicate field "metadata.name"`, `duplicate field "metadata.labels.a"`, `unknown field "metadata.foo"`, `unknown field "Data"`}, conventionConfigMap},
		{"nested JSON", "POST", pods, client.JSON, `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"{n}"},"spec":{"containers":[{"name":"a","image":"i"},{"name":"b","image":"i","imag":"x","ports":[{"containerPort":1,"containerPort":2}]}]}}`,
			[]string{`unknown field "spec.containers[1].imag"`, `duplicate field "spec.containers[1].ports[0].containerPort"`}, `Pod in version "v1" cannot be handled as a Pod: `},
		{"YAML", "POST", configMaps, typeYAML, "kind: ConfigMap\napiVersion: v1\nnope: 1\nmetadata:\n  name: {n}\n  foo: x\ndata:\n  a: x\n",
			[]string{`unknown field "metadata.foo"`, `unknown field "nope"`}, conventionConfigMap},
		{"YAML twice", "POST", configMaps, typeYAML, "kind: ConfigMap\napiVersion: v1\nmetadata:\n  name: {n}\ndata:\n  a: x\n  a: z\n  b: x\n  b: z\nnope: 1\n",
			[]string{`line 7: key "a" already set in map`, `line 9: key "b" already set in map`, `unknown field "nope"`}, conventionConfigMap},
		{"update", "PUT", configMaps + "/{n}", client.JSON, `{` + head + `"nope":1,"metadata":{"name":"{n}"},"data":{"a":"1","a":"2"}}`,
			[]string{`unknown field "nope"`, `duplicate field "data.a"`}, conventionConfigMap},
		{"merge patch", "PATCH", configMaps + "/{n}", client.MergePatch, `{"nope":1,"data":{"a":"1","a":"2"},"metadata":{"foo":null,"bar":1}}`,
			[]string{`duplicate field "data.a"`, `unknown field "metadata.bar"`, `unknown field "nope"`}, ""},
		{"JSON patch", "PATCH", configMaps + "/{n}", client.JSONPatch, `[{"op":"add","path":"/nope","value":1,"foo":1},{"op":"test","op":"add","path":"/metadata/bar","value":1}]`,
			[]string{`json patch duplicate field "[1].op"`, `json patch unknown field "[0].foo"`, `unknown field "metadata.bar"`, `unknown field "nope"`}, ""},
		{"strategic patch", "PATCH", configMaps + "/{n}", conventionTypeStrategic, `{"nope":1,"data":{"a":"1","a":"2"}}`,
			[]string{`duplicate field "data.a"`, `unknown field "nope"`}, ""},
	} {
		for _, level := range []string{"", "Ignore", "Warn", "Strict"} {
			t.Run(c.name+" "+level, func(t *testing.T) {
				name := strings.ToLower(strings.ReplaceAll(c.name+"x"+level, " ", "-"))
				fill := strings.NewReplacer("{n}", name).Replace
				body, code := fill(c.body), 201
				if c.method != "POST" {
					s.create(t, configMaps, name, nil)
					code = 200
				}
				query := "?fieldManager=m"
				if level != "" {
					query += "&fieldValidation=" + level
				}
				a := s.send(t, 0, c.method, fill(c.path)+query, c.contentType, body)
				if level == "Strict" {
					told := strings.Join(c.faults, ", ")
					if c.name == "YAML twice" { // as its parser tells it
						told = "yaml: unmarshal errors:\n  " + strings.ReplaceAll(told, ", line", "\n  line")
					}
					wantStrict(t, a, c.method, c.prefix+"strict decoding error: "+told)
					if o := s.get(t, 0, strings.TrimSuffix(fill(c.path), "/"+name)+"/"+name).Object(); c.method == "POST" && o.Name() != "" || o["data"] != nil {
						t.Errorf("it left %v", o)
					}
					return
				}
				want := c.faults
				if level == "Ignore" {
					want = nil
				}
				if got := warnings(t, a); a.Code != code || !slices.Equal(got, want) {
					t.Errorf("%v\ngot  %q\nwant %q", a, got, want)
				}
			})
		}
	}
}

// wantStrict checks the answer to a body with fields that there are not. What a patch makes with
// them is invalid.
func wantStrict(t testing.TB, a client.Answer, method, fault string) {
	t.Helper()
	if method != http.MethodPatch {
		wantFault(t, a, 400, "BadRequest", fault)
		return
	}
	if s := statusOf(t, a); a.Code != 422 || s.Reason != "Invalid" || !strings.HasSuffix(s.Message, ": "+fault) {
		t.Errorf("got  %d %s %q\nwant 422 Invalid … %q", a.Code, s.Reason, s.Message, fault)
	}
}

const conventionConfigMap = `ConfigMap in version "v1" cannot be handled as a ConfigMap: `

// TestFieldValidationOfProtobuf: numbers that a kind does not have are dropped in silence
// at every level: they are fields of a later version, and have no names to tell.
func TestFieldValidationOfProtobuf(t *testing.T) {
	t.Parallel()
	s := serveConventions(t, nil)
	for _, level := range []string{"Ignore", "Warn", "Strict"} {
		a := s.send(t, 201, http.MethodPost, configMaps+"?fieldValidation="+level, typeProtobuf, protobufMap(strings.ToLower(level)))
		if got := warnings(t, a); len(got) != 0 {
			t.Errorf("%s: %q", level, got)
		}
	}
}

// TestFieldValidationOfSubresources: bodies of their own kinds are judged like any.
func TestFieldValidationOfSubresources(t *testing.T) {
	t.Parallel()
	s := serveConventions(t, nil)
	const pods, deployments = "/api/v1/namespaces/default/pods", "/apis/apps/v1/namespaces/default/deployments"
	s.send(t, 201, http.MethodPost, pods, client.JSON, `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}}`)
	s.send(t, 201, http.MethodPost, deployments, client.JSON,
		`{"metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`)
	for _, c := range []struct{ method, path, contentType, body, fault string }{
		{"PUT", deployments + "/d/scale", client.JSON, `{"metadata":{"name":"d"},"spec":{"replicas":2,"replica":3}}`, `Scale in version "v1" cannot be handled as a Scale: strict decoding error: unknown field "spec.replica"`},
		{"PATCH", deployments + "/d/scale", client.MergePatch, `{"spec":{"replica":3}}`, `strict decoding error: unknown field "spec.replica"`},
		{"PATCH", pods + "/p/status", conventionTypeStrategic, `{"status":{"phas":"x"}}`, `strict decoding error: unknown field "status.phas"`},
		{"POST", pods + "/p/binding", client.JSON, `{"metadata":{"name":"p"},"target":{"kind":"Node","name":"n","foo":1}}`, `Binding in version "v1" cannot be handled as a Binding: strict decoding error: unknown field "target.foo"`},
		{"POST", pods + "/p/eviction", client.JSON, `{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"p"},"foo":1}`, `Eviction in version "v1" cannot be handled as a Eviction: strict decoding error: unknown field "foo"`},
		{"POST", "/apis/authorization.platform.io/v1/selfsubjectaccessreviews", client.JSON, `{"spec":{"foo":1,"resourceAttributes":{}}}`,
			`SelfSubjectAccessReview in version "v1" cannot be handled as a SelfSubjectAccessReview: strict decoding error: unknown field "spec.foo"`},
	} {
		wantStrict(t, s.send(t, 0, c.method, c.path+"?fieldValidation=Strict", c.contentType, c.body), c.method, c.fault)
		a := s.send(t, 0, c.method, c.path+"?dryRun=All", c.contentType, c.body)
		_, want, _ := strings.Cut(c.fault, "strict decoding error: ")
		if got := warnings(t, a); a.Code >= 300 || len(got) != 1 || got[0] != want {
			t.Errorf("%s: %q, want %q: %v", c.path, got, want, a)
		}
	}
}

// TestFieldValidationOfApply: what nobody could own is refused at any level; what YAML has
// twice is judged.
func TestFieldValidationOfApply(t *testing.T) {
	t.Parallel()
	s := serveConventions(t, nil)
	const path = configMaps + "/a?fieldManager=m&force=true&fieldValidation="
	const head = "kind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\n"
	for _, level := range []string{"Ignore", "Warn", "Strict"} {
		a := s.send(t, 0, http.MethodPatch, path+level, conventionTypeApply, head+"nope: 1\n")
		if f := statusOf(t, a); a.Code < 400 || !strings.HasSuffix(f.Message, ".nope: field not declared in schema") {
			t.Errorf("%s: %v", level, a)
		}
	}
	const twice = head + "data:\n  a: x\n  a: z\n"
	a := s.send(t, 400, http.MethodPatch, path+"Strict", conventionTypeApply, twice)
	if f := statusOf(t, a); f.Message != "error strict decoding YAML: yaml: unmarshal errors:\n  line 6: key \"a\" already set in map" {
		t.Errorf("%v", a)
	}
	s.get(t, 404, configMaps+"/a")
	a = s.send(t, 201, http.MethodPatch, path+"Warn", conventionTypeApply, twice)
	if got := warnings(t, a); len(got) != 1 || got[0] != `line 6: key "a" already set in map` {
		t.Errorf("%q", got)
	}
	if a = s.send(t, 200, http.MethodPatch, path+"Ignore", conventionTypeApply, twice); len(warnings(t, a)) != 0 {
		t.Errorf("%v", a.Header)
	}
}

// TestFieldValidationLevels: a level that is none, for each verb that takes one.
func TestFieldValidationLevels(t *testing.T) {
	t.Parallel()
	s := serveConventions(t, nil)
	s.create(t, configMaps, "a", nil)
	for _, c := range []struct{ method, path, contentType, kind string }{
		{"POST", configMaps, client.JSON, "CreateOptions"},
		{"PUT", configMaps + "/a", client.JSON, "UpdateOptions"},
		{"PATCH", configMaps + "/a", client.MergePatch, "PatchOptions"},
		{"PATCH", configMaps + "/a", client.JSONPatch, "PatchOptions"},
		{"PATCH", configMaps + "/a", conventionTypeStrategic, "PatchOptions"},
		{"PATCH", configMaps + "/a", conventionTypeApply, "PatchOptions"},
	} {
		a := s.send(t, 0, c.method, c.path+"?fieldManager=m&fieldValidation=strict", c.contentType, "{}")
		wantFault(t, a, 422, "Invalid", c.kind+"."+metaName+` "" is invalid: fieldValidation: Unsupported value: "strict": supported values: "", "Ignore", "Strict", "Warn"`)
	}
	if a := s.send(t, 201, http.MethodPost, configMaps+"?fieldValidation=", client.JSON, `{"metadata":{"name":"b"},"nope":1}`); len(warnings(t, a)) != 1 {
		t.Errorf("%v", a.Header)
	}
}
