package custom

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

// nested has a rule that selects fields two levels below what it is about, a list whose elements
// are open, an open list of bare objects, and defaults at the root.
const nested = `{"type":"object","x-platform-validations":[{"rule":"self.spec.inner.size > 1 && (!has(self.spec.inner.parts) || self.spec.inner.parts.all(p, p.n < 9))"}],"properties":{
	"spec":{"type":"object","required":["inner"],"properties":{
		"inner":{"type":"object","required":["size"],"properties":{"size":{"type":"integer"},"parts":{"type":"array","items":{"type":"object","properties":{"n":{"type":"integer"}}}}}},
		"any":{"type":"array","x-platform-preserve-unknown-fields":true,"items":{"type":"object","properties":{"known":{"type":"object","properties":{"a":{"type":"integer"}}}}}},
		"keyed":{"type":"array","x-platform-preserve-unknown-fields":true,"x-platform-list-type":"map","x-platform-list-map-keys":["name"],
			"items":{"type":"object","required":["name"],"properties":{"name":{"type":"string"}}}}}},
	"status":{"type":"object","default":{"phase":"new"},"properties":{"phase":{"type":"string"}}}}}`

func TestNestedSelection(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	s.define(definition{schema: nested})
	s.create("a", `,"spec":{"inner":{"size":2}}`)
	for _, spec := range []string{`{"inner":{"size":1}}`, `{"inner":{"size":2,"parts":[{"n":1},{"n":9}]}}`} {
		if answer := s.Send(422, "POST", widgets, client.JSON, widget("b", `,"spec":`+spec)); !strings.Contains(answer.String(), "failed rule: self.spec.inner.size") {
			t.Errorf("%s: %s", spec, answer)
		}
	}
	spelt := `{"type":"object","properties":{"spec":{"type":"object","x-platform-validations":[{"rule":"@self{} == self"}],"properties":{"a":{"type":"object","properties":{"b":{"type":"string"}}}}}}}`
	s.Send(422, "POST", definitions, client.JSON, strings.ReplaceAll(definition{schema: spelt}.String(), "idget", "adget"))
}

func TestOpenItems(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	s.define(definition{schema: nested})
	const spec = `{"inner":{"size":2},"any":[{"free":{"x":[1]},"known":{"a":1}},7],"keyed":[{"name":"k","more":{"deep":true}}]}`
	s.Send(201, "POST", widgets+"?fieldValidation=Strict", client.JSON, widget("a", `,"spec":`+strings.Replace(spec, `,7]`, `]`, 1)))
	s.Send(400, "POST", widgets+"?fieldValidation=Strict", client.JSON, widget("b", `,"spec":{"inner":{"size":2},"any":[{"known":{"b":1}}]}`))
	o := s.Send(201, "PATCH", widgets+"/c?fieldManager=m", typeApply, widget("c", `,"spec":`+strings.Replace(spec, `,7]`, `]`, 1))).Object()
	const want = `{"spec":{"any":[{"free":{"x":[1]},"known":{"a":1}}],"inner":{"size":2},"keyed":[{"more":{"deep":true},"name":"k"}]}}`
	s.check("created", part(s.read("a"), "spec"), want)
	s.check("applied", part(o, "spec"), want)
	s.check("owners", owners(o), `m Apply {"f:spec":{"f:any":{},"f:inner":{"f:size":{}},"f:keyed":{"k:{\"name\":\"k\"}":{".":{},"f:more":{".":{},"f:deep":{}},"f:name":{}}}}}`)
}

// TestApplyThroughOtherVersion applies an object that is not there yet through a version in which
// it is not stored, and whose root has a default.
func TestApplyThroughOtherVersion(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	version := func(name, storage string) string {
		return `{"name":"` + name + `","served":true,"storage":` + storage + `,"schema":{"openAPIV3Schema":` + nested + `},"subresources":{"status":{}}}`
	}
	s.define(definition{versions: version("v1", "false") + "," + version("v2", "true")})
	o := s.Send(201, "PATCH", widgets+"/a?fieldManager=m", typeApply, widget("a", `,"spec":{"inner":{"size":2}}`)).Object()
	s.check("status of an apply", part(o, "status"), `{"status":{"phase":"new"}}`)
	s.check("owners", owners(o), `m Apply {"f:spec":{"f:inner":{"f:size":{}}}}`)
	o = s.create("b", `,"spec":{"inner":{"size":2}},"status":{"phase":"old"}`)
	s.check("status of a create", part(o, "status"), `{"status":{"phase":"new"}}`)
	s.check("status as it is read", part(s.read("b"), "status"), `{"status":{"phase":"new"}}`)
}

func TestFinalizersOfCustomObjects(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	s.define(definition{})
	const path = widgets + "/a"
	object := strings.Replace(widget("a", ""), `"name":"a"`, `"name":"a","finalizers":["keeper","keeper.example.com","example.com/keeper"]`, 1)
	created := s.Send(201, "POST", widgets, client.JSON, object)
	warnings := strings.Join(created.Header.Values("Warning"), "\n")
	s.check("warnings", warnings, `299 - "metadata.finalizers[0]: \"keeper\": prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers"
299 - "metadata.finalizers[1]: \"keeper.example.com\": prefer a domain-qualified finalizer name including a path (/) to avoid accidental conflicts with other finalizer writers"`)
	s.Send(200, "DELETE", path, "", "")
	changed := s.Send(200, "PATCH", path, client.MergePatch, `{"metadata":{"finalizers":["keeper"]}}`)
	s.check("warnings of what stays", strings.Join(changed.Header.Values("Warning"), "\n"), "")
	s.Send(422, "PATCH", path, client.MergePatch, `{"metadata":{"finalizers":["keeper","no good"]}}`)
	s.Send(200, "PATCH", path, client.MergePatch, `{"metadata":{"finalizers":[]}}`)
	s.Send(404, "GET", path, "", "")
	s.Send(422, "POST", "/api/v1/namespaces/default/configmaps", client.JSON, `{"metadata":{"name":"a","finalizers":["keeper"]}}`)
}
