package api

import (
	"fmt"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

const things = "/apis/example.com/v1/namespaces/default/things"

func (s applySession) defineThings() {
	s.T.Helper()
	s.define("things", "Thing", `"keep":{"type":"string"},
		"sub":{"type":"object","properties":{"x":{"type":"string"},"y":{"type":"string"}}},
		"spec":{"type":"object","properties":{"mode":{"type":"string","default":"auto"},"extra":{"type":"string"}}},
		"k":{"type":"object","nullable":true,"properties":{"r":{"type":"string"}}},
		"d":{"type":"object","nullable":true,"default":{"r":"default"},"properties":{"r":{"type":"string"}}},
		"map":{"type":"object","additionalProperties":{"type":"string"}},
		"set":{"type":"array","x-platform-list-type":"set","items":{"type":"string"}},
		"list":{"type":"array","x-platform-list-type":"map","x-platform-list-map-keys":["name"],"items":{"type":"object","required":["name"],
			"properties":{"name":{"type":"string"},"sub":{"type":"object","properties":{"x":{"type":"string"}}}}}},
		"numbers":{"type":"array","x-platform-list-type":"set","items":{"type":"number"}},
		"n":{"type":"number"},"i":{"type":"integer"},"any":{"x-platform-preserve-unknown-fields":true}`)
}

// TestAppliedTwice checks that the first apply takes full effect. Repeating the apply, or updating
// with the object just read, must change nothing.
func TestAppliedTwice(t *testing.T) {
	t.Parallel()
	s := applySession{client.Open(t, nil)}
	s.defineThings()
	type step struct{ manager, config string }
	one := func(configs ...string) (steps []step) {
		for _, config := range configs {
			steps = append(steps, step{"one", config})
		}
		return steps
	}
	for name, test := range map[string]struct {
		steps []step
		want  map[string]string
	}{
		"empty object":        {one(`"keep":"k","sub":{"x":"1"}`, `"keep":"k","sub":{}`), map[string]string{"sub": `{}`}},
		"object with default": {one(`"spec":{"extra":"e"}`, `"spec":{}`), map[string]string{"spec": `{"mode":"auto"}`}},
		"null":                {one(`"keep":"k","k":{"r":"x"}`, `"keep":"k","k":null`), map[string]string{"k": `null`}},
		"null for a default":  {one(`"keep":"k","d":{"r":"x"}`, `"keep":"k","d":null`), map[string]string{"d": `null`}},
		"empty map":           {one(`"map":{"a":"b"}`, `"map":{}`), map[string]string{"map": `{}`}},
		"empty list":          {one(`"list":[{"name":"a"}]`, `"list":[]`), map[string]string{"list": `[]`}},
		"empty set":           {one(`"set":["a"]`, `"set":[]`), map[string]string{"set": `[]`}},
		"empty in an item":    {one(`"list":[{"name":"a","sub":{"x":"1"}}]`, `"list":[{"name":"a","sub":{}}]`), map[string]string{"list": `[{"name":"a","sub":{}}]`}},
		"empty, undeclared":   {one(`"any":{"a":{"b":1}}`, `"any":{"a":{}}`), map[string]string{"any": `{"a":{}}`}},
		"empty for a list":    {one(`"any":{"a":[1]}`, `"any":{"a":[]}`), map[string]string{"any": `{"a":[]}`}},
		"another manager's": {[]step{{"one", `"sub":{"x":"1"}`}, {"two", `"sub":{"y":"1"}`}, {"one", `"sub":{}`}, {"two", `"sub":{}`}, {"one", `"sub":{}`}},
			map[string]string{"sub": `{}`}},
		"given up by one of two": {[]step{{"one", `"sub":{"x":"1"}`}, {"two", `"sub":{}`}, {"one", `"keep":"k"`}, {"two", `"sub":{}`}}, map[string]string{"sub": `{}`}},
		"numbers": {one(`"n":5.0,"i":1e2,"numbers":[1.0,2e0,2.5,-0.0],"any":{"a":-0.0,"b":[5.0,1e3,1.5],"c":4.611686018427387904e18}`),
			map[string]string{"n": `5`, "i": `100`, "numbers": `[1,2,2.5,0]`, "any": `{"a":0,"b":[5,1000,1.5],"c":4611686018427388000}`}},
		"the same number": {[]step{{"one", `"n":5,"i":100`}, {"two", `"n":5.0,"i":1e2`}, {"one", `"n":5e0,"i":100.0`}}, map[string]string{"n": `5`, "i": `100`}},
	} {
		t.Run(name, func(t *testing.T) {
			s := applySession{client.Session{Server: s.Server, Ctx: s.Ctx, T: t}}
			for i, step := range test.steps {
				config := fmt.Sprintf(`{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"a"},%s}`, step.config)
				code := 200
				if i == 0 {
					code = 201
				}
				applied := s.apply(code, step.manager, things+"/a", config)
				for _, again := range []client.Object{
					s.apply(200, step.manager, things+"/a", config),
					s.Send(200, "PUT", things+"/a?fieldManager=put", client.JSON, s.get(things+"/a").String()).Object(),
					s.apply(200, step.manager, things+"/a", config),
				} {
					if again.String() != applied.String() {
						t.Errorf("%s: %v\nhas become\n%v", step.config, applied, again)
					}
				}
			}
			s.has(s.get(things+"/a"), test.want)
			s.Send(200, "DELETE", things+"/a", "", "")
		})
	}
}

// TestEmptyPartOfBuiltInKind checks that one apply can empty a nested object of a built-in kind.
func TestEmptyPartOfBuiltInKind(t *testing.T) {
	t.Parallel()
	s := applySession{client.Open(t, nil)}
	config := func(volume string) string {
		return `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},
			"spec":{"containers":[{"name":"c","image":"i"}],"volumes":[{"name":"v","emptyDir":` + volume + `}]}}}}`
	}
	s.apply(201, "one", applyDeployment+"/a", config(`{"medium":"Memory"}`))
	applied := s.apply(200, "one", applyDeployment+"/a", config(`{}`))
	s.has(applied, map[string]string{"spec.template.spec.volumes": `[{"emptyDir":{},"name":"v"}]`})
	if again := s.apply(200, "one", applyDeployment+"/a", config(`{}`)); again.String() != applied.String() {
		t.Errorf("%v\nhas become\n%v", applied, again)
	}
}
