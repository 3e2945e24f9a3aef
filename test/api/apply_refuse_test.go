package api

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

func TestApplyRefused(t *testing.T) {
	t.Parallel()
	s := applySession{client.Open(t, nil)}
	live := s.create(configMaps, configMap("live", `"x":"1"`))
	body := func(metadata string) string {
		return `{"apiVersion":"v1","kind":"ConfigMap","metadata":{` + metadata + `}}`
	}
	pod := func(spec string) string {
		return `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{` + spec + `}}`
	}
	const pods = "/api/v1/namespaces/default/pods"
	for name, test := range map[string]struct {
		code       int
		path, body string
		says       string
	}{
		"no manager":        {422, configMaps + "/a", body(`"name":"a"`), "fieldManager: Required value: is required for apply patch"},
		"managed fields":    {400, configMaps + "/a?fieldManager=m", body(`"name":"a","managedFields":[{}]`), "metadata.managedFields must be nil"},
		"empty managed":     {400, configMaps + "/a?fieldManager=m", body(`"name":"a","managedFields":[]`), "metadata.managedFields must be nil"},
		"generateName":      {400, configMaps + "/a?fieldManager=m", body(`"generateName":"a"`), "name must be provided"},
		"other name":        {400, configMaps + "/a?fieldManager=m", body(`"name":"b"`), "does not match the name on the URL"},
		"other name, uid":   {409, configMaps + "/a?fieldManager=m", body(`"name":"b","uid":"u"`), "uid mismatch"},
		"no name, uid":      {409, configMaps + "/a?fieldManager=m", body(`"uid":"u"`), "uid mismatch"},
		"of owned fields":   {409, configMaps + "/live?fieldManager=m", configMap("b", `"x":"2"`), "Apply failed with 1 conflict"},
		"of own fields":     {400, configMaps + "/live?fieldManager=m", configMap("b", `"x":"1"`), "does not match the name on the URL"},
		"of no fields":      {400, configMaps + "/live?fieldManager=m", body(`"name":"b"`), "does not match the name on the URL"},
		"of other owners":   {400, configMaps + "/live?fieldManager=m&force=true", configMap("b", `"x":"2"`), "does not match the name on the URL"},
		"other namespace":   {400, configMaps + "/a?fieldManager=m", body(`"name":"a","namespace":"other"`), "namespace of the provided object does not match"},
		"no kind":           {400, configMaps + "/a?fieldManager=m", `{"apiVersion":"v1"}`, "invalid object type"},
		"other version":     {400, applyDeployment + "/a?fieldManager=m", `{"apiVersion":"apps/v2","kind":"Deployment","metadata":{"name":"a"}}`, "Incorrect version specified in apply patch"},
		"no object":         {400, configMaps + "/a?fieldManager=m", `[]`, ""},
		"no text":           {400, configMaps + "/a?fieldManager=m", "a: b: c", "error decoding YAML"},
		"empty":             {400, configMaps + "/a?fieldManager=m", "", ""},
		"unknown field":     {400, configMaps + "/a?fieldManager=m", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"date":{}}`, ".date: field not declared in schema"},
		"duplicate item":    {400, pods + "/a?fieldManager=m", pod(`"containers":[{"name":"c"},{"name":"c"}]`), `.spec.containers: duplicate entries for key [name="c"]`},
		"no key":            {400, "/api/v1/namespaces/default/serviceaccounts/a?fieldManager=m", `{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"a"},"secrets":[{}]}`, `.secrets: element 0: associative list with keys has an element that omits all key fields ["name"] (and doesn't have default values for any key fields)`},
		"zero key":          {422, pods + "/a?fieldManager=m", pod(`"containers":[{"image":"c"}]`), `spec.containers[0].name: Required value`},
		"twice, strictly":   {400, configMaps + "/a?fieldManager=m&fieldValidation=Strict", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"x":"1","x":"2"}}`, `duplicate field "data.x"`},
		"invalid":           {422, configMaps + "/A_?fieldManager=m", body(`"name":"A_"`), "metadata.name: Invalid value"},
		"old version":       {409, configMaps + "/live?fieldManager=m", body(`"name":"live","resourceVersion":"1"`), "the object has been modified"},
		"version of none":   {409, configMaps + "/none?fieldManager=m", body(`"name":"none","resourceVersion":"1"`), "Operation cannot be fulfilled"},
		"uid of none":       {409, configMaps + "/none?fieldManager=m", body(`"name":"none","uid":"u"`), "uid mismatch: the provided object specified uid u, and no existing object was found"},
		"missing namespace": {404, "/api/v1/namespaces/none/configmaps/a?fieldManager=m", body(`"name":"a"`), `namespaces "none" not found`},
		"collection":        {405, configMaps + "?fieldManager=m", body(`"name":"a"`), ""},
		"status of none":    {404, applyDeployment + "/none/status?fieldManager=m", `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"none"}}`, "not found"},
		"bad dry run":       {422, configMaps + "/a?fieldManager=m&dryRun=Some", body(`"name":"a"`), "dryRun"},
		"manager too long":  {422, configMaps + "/a?fieldManager=" + strings.Repeat("m", 129), body(`"name":"a"`), "fieldManager: Too long"},
	} {
		answer, err := s.Do(s.Ctx, "PATCH", test.path, applyTypeApply, []byte(test.body))
		message, _ := answer.Object()["message"].(string)
		if err != nil || answer.Code != test.code || !strings.Contains(message, test.says) {
			t.Errorf("%s: %v %v, want %d %s", name, answer, err, test.code, test.says)
		}
	}
	if now := s.get(configMaps + "/live"); now.String() != live.String() {
		t.Errorf("%v has become %v", live, now)
	}
	s.Send(422, "PATCH", configMaps+"/a?fieldManager=m&force=true", client.MergePatch, `{}`)
}

// TestStructureFaults checks that the error of a configuration names all faults of its structure, as
// structured-merge-diff prints them.
func TestStructureFaults(t *testing.T) {
	t.Parallel()
	s := applySession{client.Open(t, nil)}
	s.define("things", "Thing", `"spec":{"type":"object","properties":{
		"list":{"type":"array","items":{"type":"object","properties":{"a":{"type":"string"}}}},
		"set":{"type":"array","x-platform-list-type":"set","items":{"type":"string"}},
		"map":{"type":"object","additionalProperties":{"type":"object","properties":{"a":{"type":"string"}}}},
		"open":{"x-platform-preserve-unknown-fields":true},
		"keyed":{"type":"array","x-platform-list-type":"map","x-platform-list-map-keys":["name"],"items":{"type":"object","required":["name"],"properties":{
			"name":{"type":"string"},"inner":{"type":"object","properties":{"a":{"type":"string"}}}}}}}}`)
	const things = "/apis/example.com/v1/namespaces/default/things"
	thing := func(spec string) string {
		return `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"a"},"spec":` + spec + `}`
	}
	deploy := func(spec string) string {
		return `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a"},"spec":` + spec + `}`
	}
	pod := func(spec string) string { return deploy(`{"template":{"spec":` + spec + `}}`) }
	for name, test := range map[string]struct {
		path, body string
		faults     []string
	}{
		"unknown fields": {things, thing(`{"foo":1,"keyed":[{"name":"x","z":1,"inner":{"y":1}}],"list":[{},{"b":1}]}`), []string{
			`.spec.foo: field not declared in schema`,
			`.spec.keyed[name="x"].inner.y: field not declared in schema`,
			`.spec.keyed[name="x"].z: field not declared in schema`,
			`.spec.list[1].b: field not declared in schema`}},
		"with faults of lists": {things, thing(`{"foo":1,"keyed":[{"name":"x"},{"name":"x"},{"inner":{}}],"set":["a","a",null]}`), []string{
			`.spec.foo: field not declared in schema`,
			`.spec.keyed: duplicate entries for key [name="x"]`,
			`.spec.keyed: element 2: associative list with keys has an element that omits all key fields ["name"] (and doesn't have default values for any key fields)`,
			`.spec.set: duplicate entries for key [="a"]`,
			`.spec.set: element 2: associative list without keys has an element that's an explicit null`}},
		"maps for lists": {things, thing(`{"list":{"a":"b"},"set":{"x":[1]},"keyed":"x","open":{"a":[1]}}`), []string{
			`.spec.keyed: expected list, got &{x}`, `.spec.list: expected list, got &{map[a:b]}`, `.spec.set: expected list, got &{map[x:[1]]}`}},
		"other values for maps": {things, thing(`{"map":{"x":4},"keyed":["a"],"open":7}`), []string{
			`.spec.keyed: element 0: associative list with keys may not have non-map elements`, `.spec.map.x: expected map, got &{4}`}},
		"one fault":         {things, thing(`{"list":{"a":"b"}}`), []string{`.spec.list: expected list, got &{map[a:b]}`}},
		"a list for labels": {things, `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"a","labels":["x"]}}`, []string{`.metadata.labels: expected map, got &{[x]}`}},
		"built-in kind":     {applyDeployment, deploy(`{"foo":1,"template":{"spec":{"bar":1,"containers":[{"name":"c","baz":1}]}}}`), []string{`.spec.foo: field not declared in schema`, `.spec.template.spec.bar: field not declared in schema`, `.spec.template.spec.containers[name="c"].baz: field not declared in schema`}},
		"its types":         {applyDeployment, pod(`{"containers":{"a":1},"volumes":"x","nodeSelector":[]}`), []string{`.spec.template.spec.containers: expected list, got &{map[a:1]}`, `.spec.template.spec.nodeSelector: expected map, got &{[]}`, `.spec.template.spec.volumes: expected list, got &{x}`}},
		"its atomic lists":  {applyDeployment, pod(`{"containers":[{"name":"c","command":{"a":1}}]}`), []string{`.spec.template.spec.containers[name="c"].command: expected list, got &{map[a:1]}`}},
		"types and unknown": {applyDeployment, deploy(`{"foo":1,"template":{"spec":"x"}}`), []string{`.spec.foo: field not declared in schema`, `.spec.template.spec: expected map, got &{x}`}},
		"YAML":              {applyDeployment, "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {selector: [a]}\n", []string{`.spec.selector: expected map, got &{[a]}`}},
	} {
		want := strings.Join(test.faults, "")
		if len(test.faults) > 1 {
			want = "errors:\n  " + strings.Join(test.faults, "\n  ")
		}
		message, _ := s.Send(400, "PATCH", test.path+"/a?fieldManager=m", applyTypeApply, test.body).Object()["message"].(string)
		if _, got, _ := strings.Cut(message, "failed to create typed patch object "); !strings.HasSuffix(got, "): "+want) {
			t.Errorf("%s: %s\nwant %s", name, message, want)
		}
	}
}

// TestCausesOfNulls checks that the causes of an invalid update begin with its metadata.
func TestCausesOfNulls(t *testing.T) {
	t.Parallel()
	s := applySession{client.Open(t, nil)}
	s.define("things", "Thing", `"n":{"type":"integer"}`)
	const path = "/apis/example.com/v1/namespaces/default/things/a"
	s.apply(201, "m", path, `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"a"},"n":1}`)
	refused := s.apply(422, "m", path, `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"a","labels":{"a":"_"}},"n":null}`)
	for i, want := range []string{"metadata.labels", "n"} {
		if got := valueAt(refused, fmt.Sprintf("details.causes.%d.field", i)); got != strconv.Quote(want) {
			t.Errorf("cause %d is of %s, want %s", i, got, want)
		}
	}
}

func TestTwiceWarns(t *testing.T) {
	t.Parallel()
	s := applySession{client.Open(t, nil)}
	const twice = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"x":"1","x":"2"}}`
	answer := s.Send(201, "PATCH", configMaps+"/a?fieldManager=m", applyTypeApply, twice)
	if !strings.Contains(answer.Header.Get("Warning"), "data.x") {
		t.Errorf("the warning is %q", answer.Header.Get("Warning"))
	}
	if answer := s.Send(200, "PATCH", configMaps+"/a?fieldManager=m&fieldValidation=Ignore", applyTypeApply, twice); answer.Header.Get("Warning") != "" {
		t.Errorf("a warning that was not asked for: %q", answer.Header.Get("Warning"))
	}
}

func TestTerminatingNamespace(t *testing.T) {
	t.Parallel()
	s := applySession{client.Open(t, nil)}
	s.create("/api/v1/namespaces", `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"going"}}`)
	const inside = "/api/v1/namespaces/going/configmaps"
	s.create(inside, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"held","finalizers":["example.com/f"]}}`)
	s.Send(200, "DELETE", "/api/v1/namespaces/going", "", "")
	refused := s.apply(403, "m", inside+"/new", configMap("new", ``))
	if m, _ := refused["message"].(string); !strings.Contains(m, "because it is being terminated") {
		t.Errorf("the message is %q", m)
	}
	s.apply(200, "m", inside+"/held", configMap("held", `"x":"1"`))
}

func TestVersionAsPrecondition(t *testing.T) {
	t.Parallel()
	s := applySession{client.Open(t, nil)}
	made := s.create(configMaps, configMap("a", `"x":"1"`))
	config := func(version string) string {
		return `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","resourceVersion":` + version + `},"data":{"y":"1"}}`
	}
	s.apply(200, "m", configMaps+"/a", config(valueAt(made, "metadata.resourceVersion")))
	s.apply(409, "m", configMaps+"/a", config(valueAt(made, "metadata.resourceVersion")))
	s.has(s.get(configMaps+"/a"), map[string]string{"data": `{"x":"1","y":"1"}`})
}

func TestApplyDryRun(t *testing.T) {
	t.Parallel()
	s := applySession{client.Open(t, nil)}
	path := configMaps + "/a"
	s.owned(s.apply(201, "m&dryRun=All", path, configMap("a", `"x":"1"`)), `m Apply {"f:data":{"f:x":{}}}`)
	s.Send(404, "GET", path, "", "")
	live := s.apply(201, "m", path, configMap("a", `"x":"1"`))
	s.has(s.apply(200, "m&dryRun=All", path, configMap("a", `"y":"1"`)), map[string]string{"data": `{"y":"1"}`})
	s.apply(409, "other&dryRun=All", path, configMap("a", `"x":"2"`))
	if now := s.get(path); now.String() != live.String() {
		t.Errorf("%v has become %v", live, now)
	}
}
