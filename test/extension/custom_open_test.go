package extension

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

// customNested has a rule that selects fields two levels below what it is about, a list whose elements
// are open, an open list of bare objects, and defaults at the root.
const customNested = `{"type":"object","x-platform-validations":[{"rule":"self.spec.inner.size > 1 && (!has(self.spec.inner.parts) || self.spec.inner.parts.all(p, p.n < 9))"}],"properties":{
	"spec":{"type":"object","required":["inner"],"properties":{
		"inner":{"type":"object","required":["size"],"properties":{"size":{"type":"integer"},"parts":{"type":"array","items":{"type":"object","properties":{"n":{"type":"integer"}}}}}},
		"any":{"type":"array","x-platform-preserve-unknown-fields":true,"items":{"type":"object","properties":{"known":{"type":"object","properties":{"a":{"type":"integer"}}}}}},
		"keyed":{"type":"array","x-platform-preserve-unknown-fields":true,"x-platform-list-type":"map","x-platform-list-map-keys":["name"],
			"items":{"type":"object","required":["name"],"properties":{"name":{"type":"string"}}}}}},
	"status":{"type":"object","default":{"phase":"new"},"properties":{"phase":{"type":"string"}}}}}`

func TestNestedSelection(t *testing.T) {
	t.Parallel()
	s := serveCustom(t, nil)
	s.define(customDefinition{schema: customNested})
	s.create("a", `,"spec":{"inner":{"size":2}}`)
	for _, spec := range []string{`{"inner":{"size":1}}`, `{"inner":{"size":2,"parts":[{"n":1},{"n":9}]}}`} {
		if answer := s.Send(422, "POST", widgets, client.JSON, widget("b", `,"spec":`+spec)); !strings.Contains(answer.String(), "failed rule: self.spec.inner.size") {
			t.Errorf("%s: %s", spec, answer)
		}
	}
	spelt := `{"type":"object","properties":{"spec":{"type":"object","x-platform-validations":[{"rule":"@self{} == self"}],"properties":{"a":{"type":"object","properties":{"b":{"type":"string"}}}}}}}`
	s.Send(422, "POST", customDefinitions, client.JSON, strings.ReplaceAll(customDefinition{schema: spelt}.String(), "idget", "adget"))
}

func TestOpenItems(t *testing.T) {
	t.Parallel()
	s := serveCustom(t, nil)
	s.define(customDefinition{schema: customNested})
	const spec = `{"inner":{"size":2},"any":[{"free":{"x":[1]},"known":{"a":1}},7],"keyed":[{"name":"k","more":{"deep":true}}]}`
	s.Send(201, "POST", widgets+"?fieldValidation=Strict", client.JSON, widget("a", `,"spec":`+strings.Replace(spec, `,7]`, `]`, 1)))
	s.Send(400, "POST", widgets+"?fieldValidation=Strict", client.JSON, widget("b", `,"spec":{"inner":{"size":2},"any":[{"known":{"b":1}}]}`))
	o := s.Send(201, "PATCH", widgets+"/c?fieldManager=m", customTypeApply, widget("c", `,"spec":`+strings.Replace(spec, `,7]`, `]`, 1))).Object()
	const want = `{"spec":{"any":[{"free":{"x":[1]},"known":{"a":1}}],"inner":{"size":2},"keyed":[{"more":{"deep":true},"name":"k"}]}}`
	s.check("created", part(s.read("a"), "spec"), want)
	s.check("applied", part(o, "spec"), want)
	s.check("owners", owners(o), `m Apply {"f:spec":{"f:any":{},"f:inner":{"f:size":{}},"f:keyed":{"k:{\"name\":\"k\"}":{".":{},"f:more":{".":{},"f:deep":{}},"f:name":{}}}}}`)
}

// TestApplyThroughOtherVersion applies an object that is not there yet through a version in which
// it is not stored, and whose root has a default.
func TestApplyThroughOtherVersion(t *testing.T) {
	t.Parallel()
	s := serveCustom(t, nil)
	version := func(name, storage string) string {
		return `{"name":"` + name + `","served":true,"storage":` + storage + `,"schema":{"openAPIV3Schema":` + customNested + `},"subresources":{"status":{}}}`
	}
	s.define(customDefinition{versions: version("v1", "false") + "," + version("v2", "true")})
	o := s.Send(201, "PATCH", widgets+"/a?fieldManager=m", customTypeApply, widget("a", `,"spec":{"inner":{"size":2}}`)).Object()
	s.check("status of an apply", part(o, "status"), `{"status":{"phase":"new"}}`)
	s.check("owners", owners(o), `m Apply {"f:spec":{"f:inner":{"f:size":{}}}}`)
	o = s.create("b", `,"spec":{"inner":{"size":2}},"status":{"phase":"old"}`)
	s.check("status of a create", part(o, "status"), `{"status":{"phase":"new"}}`)
	s.check("status as it is read", part(s.read("b"), "status"), `{"status":{"phase":"new"}}`)
}

func TestFinalizersOfCustomObjects(t *testing.T) {
	t.Parallel()
	s := serveCustom(t, nil)
	s.define(customDefinition{})
	const path = widgets + "/a"
	object := strings.Replace(widget("a", ""), `"name":"a"`, `"name":"a","finalizers":["keeper","keeper.example.com","example.com/keeper"]`, 1)
	created := s.Send(201, "POST", widgets, client.JSON, object)
	warnings := strings.Join(created.Header.Values("Warning"), "\n")
	s.check("warnings", warnings, `299 - "metadata.finalizers: \"keeper\": prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers"
299 - "metadata.finalizers: \"keeper.example.com\": prefer a domain-qualified finalizer name including a path (/) to avoid accidental conflicts with other finalizer writers"`)
	s.Send(200, "DELETE", path, "", "")
	changed := s.Send(200, "PATCH", path, client.MergePatch, `{"metadata":{"finalizers":["keeper"]}}`)
	s.check("warnings of what stays", strings.Join(changed.Header.Values("Warning"), "\n"), "")
	s.Send(422, "PATCH", path, client.MergePatch, `{"metadata":{"finalizers":["keeper","no good"]}}`)
	s.Send(200, "PATCH", path, client.MergePatch, `{"metadata":{"finalizers":[]}}`)
	s.Send(404, "GET", path, "", "")
	s.Send(422, "POST", "/api/v1/namespaces/default/configmaps", client.JSON, `{"metadata":{"name":"a","finalizers":["keeper"]}}`)
}

// TestStoredNulls: null is a value where the schema allows it, with owners like any other.
func TestStoredNulls(t *testing.T) {
	t.Parallel()
	s := serveCustom(t, nil)
	s.define(customDefinition{schema: `{"type":"object","properties":{"spec":{"type":"object","properties":{"a":{"type":"string","nullable":true},"b":{"type":"string"},
		"c":{"type":"string","nullable":true,"default":"C"},"d":{"type":"string","default":"D"},"must":{"type":"object","required":["a"],"properties":{"a":{"type":"string"},"b":{"type":"string"}}},"open":{"type":"object","x-platform-preserve-unknown-fields":true}}}}}`})
	const spec = `,"spec":{"a":null,"b":null,"c":null,"d":null,"open":{"x":null,"y":{"z":null}}}`
	const want = `{"spec":{"a":null,"c":null,"d":"D","open":{"x":null,"y":{"z":null}}}}`
	created := s.create("a", spec)
	s.check("created", part(created, "spec"), want)
	s.check("owners", owners(created), `Go-http-client Update {"f:spec":{".":{},"f:a":{},"f:c":{},"f:d":{},"f:open":{".":{},"f:x":{},"f:y":{".":{},"f:z":{}}}}}`)
	apply := func(code int, manager, spec string) client.Object {
		return s.Send(code, "PATCH", widgets+"/b?fieldManager="+manager, customTypeApply, widget("b", spec)).Object()
	}
	s.check("null of a text", strings.Join(causesCustom(apply(422, "one", spec)), "|"), `spec.b: Invalid value: "null": spec.b in body must be of type string: "null"`)
	s.check("null of what is required", strings.Join(causesCustom(apply(422, "one", `,"spec":{"must":{"a":null}}`)), "|"), `spec.must.a: Invalid value: "null": spec.must.a in body must be of type string: "null"`)
	const applied = `,"spec":{"a":null,"c":null,"open":{"x":null,"y":{"z":null}}}`
	s.check("applied", part(apply(201, "one", applied), "spec"), want)
	both := apply(200, "two", applied)
	s.check("applied by both", part(both, "spec"), want)
	s.check("version of what changes nothing", fmt.Sprint(apply(200, "two", applied).Version()), fmt.Sprint(both.Version()))
	apply(409, "two", `,"spec":{"a":"x"}`)
	s.check("null of what is required, where there is an object", strings.Join(causesCustom(apply(422, "one", `,"spec":{"must":{"a":null}}`)), "|"),
		`spec.must.a: Invalid value: "null": spec.must.a in body must be of type string: "null"`)
	labels := s.Send(200, "PATCH", widgets+"/b?fieldManager=three", customTypeApply, `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"b","labels":null}}`).Object()
	if text := owners(labels); !strings.Contains(text, `three Apply {"f:metadata":{"f:labels":{}}}`) {
		t.Errorf("owners with a null of metadata: %s", text)
	}
	s.check("given up", part(apply(200, "one", ``), "spec"), want)
	s.check("given up by both", part(apply(200, "two", `,"spec":{"a":null}`), "spec"), `{"spec":{"a":null,"c":"C","d":"D"}}`)
}

// TestRulesBesideOtherFaults: rules run unless a fault says that a value has not the type or the size that they count on.
func TestRulesBesideOtherFaults(t *testing.T) {
	t.Parallel()
	s := serveCustom(t, nil)
	s.define(customDefinition{schema: `{"type":"object","x-platform-validations":[{"rule":"has(self.spec)"}],"properties":{"spec":{"type":"object","x-platform-validations":[{"rule":"self.n > 1"}],
		"required":["n"],"properties":{"n":{"type":"integer"},"p":{"type":"string","pattern":"^x"},"l":{"type":"string","maxLength":1}}}}}`})
	for spec, want := range map[string]string{
		`{"n":1,"p":"y"}`:  `spec.p: Invalid value: "y": spec.p in body should match '^x'|spec: Invalid value: failed rule: self.n > 1`,
		`{"n":1,"l":"yy"}`: `<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation|spec.l: Too long: may not be more than 1 bytes`,
		`{"p":"y"}`: `<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation|` +
			`spec.n: Required value|spec.p: Invalid value: "y": spec.p in body should match '^x'`,
	} {
		s.check(spec, strings.Join(causesCustom(s.Send(422, "POST", widgets, client.JSON, widget("a", `,"spec":`+spec)).Object()), "|"), want)
	}
}

// causesCustom are those of a refusal, as "field: message", sorted.
func causesCustom(status client.Object) (all []string) {
	details, _ := status["details"].(map[string]any)
	list, _ := details["causes"].([]any)
	for _, c := range list {
		c := c.(map[string]any)
		all = append(all, fmt.Sprint(c["field"], ": ", c["message"]))
	}
	slices.Sort(all)
	return all
}

// TestApprovals: definitions in the groups of the community tell of their approval.
func TestApprovals(t *testing.T) {
	t.Parallel()
	s := serveCustom(t, nil)
	protected := func(annotations string) string {
		text := strings.ReplaceAll(customDefinition{}.String(), "example.com", "example.platform.io")
		return strings.Replace(text, `"metadata":{`, `"metadata":{"annotations":{`+annotations+`},`, 1)
	}
	const annotation, path = "api-approved.platform.io", customDefinitions + "/widgets.example.platform.io"
	s.Send(422, "POST", customDefinitions, client.JSON, protected(``))
	s.Send(422, "POST", customDefinitions, client.JSON, protected(`"`+annotation+`":"yes"`))
	s.Send(201, "POST", customDefinitions, client.JSON, protected(`"`+annotation+`":"unapproved, for now"`))
	approval := func() string {
		for _, c := range s.Send(200, "GET", path, "", "").Object()["status"].(map[string]any)["conditions"].([]any) {
			if c := c.(map[string]any); c["type"] == "KubernetesAPIApprovalPolicyConformant" {
				return fmt.Sprint(c["status"], " ", c["reason"], ": ", c["message"])
			}
		}
		return ""
	}
	s.until("the approval is told", func() bool { return approval() == `False UnapprovedAnnotation: not approved: "unapproved, for now"` })
	s.Send(200, "PATCH", path, client.MergePatch, `{"metadata":{"annotations":{"`+annotation+`":"https://example.com/approved"}}}`)
	s.until("the approval is told", func() bool { return approval() == "True ApprovedAnnotation: approved in https://example.com/approved" })
	s.Send(422, "PATCH", path, client.MergePatch, `{"metadata":{"annotations":null}}`)
}
