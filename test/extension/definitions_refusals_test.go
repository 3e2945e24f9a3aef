package extension

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	v1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

// gadgets is a valid definition, which the tests change.
const gadgets = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"gadgets.example.com"},"spec":{
	"group":"example.com","scope":"Namespaced","names":{"plural":"gadgets","singular":"gadget","kind":"Gadget","listKind":"GadgetList","shortNames":["gg"]},
	"versions":[
		{"name":"v1","served":true,"storage":true,"subresources":{"status":{}},
			"additionalPrinterColumns":[{"name":"Size","type":"integer","jsonPath":".spec.size"}],"selectableFields":[{"jsonPath":".spec.color"}],
			"schema":{"openAPIV3Schema":{"type":"object","properties":{
				"spec":{"type":"object","properties":{"size":{"type":"integer"},"color":{"type":"string"},"list":{"type":"array","maxItems":4,"items":{"type":"string","maxLength":4}},
					"parts":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name"],"items":{"type":"object","required":["name"],"properties":{"name":{"type":"string"}}}}}},
				"status":{"type":"object","properties":{"ready":{"type":"boolean"}}}}}}},
		{"name":"v2","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}}`

// An edit sets the part of a definition at a path, "" being the whole; an empty value removes it.
type edit struct{ path, value string }

// Paths of gadgets.
const (
	definitionVersion = "spec.versions.0."
	root              = definitionVersion + "schema.openAPIV3Schema"
	definitionSpec    = root + ".properties.spec"
	size              = definitionSpec + ".properties.size"
	color             = definitionSpec + ".properties.color"
	list              = definitionSpec + ".properties.list"
	parts             = definitionSpec + ".properties.parts"
)

// apply makes an edit below a value.
func (e edit) apply(t *testing.T, at any) any {
	t.Helper()
	if e.path == "" {
		if e.value == "" {
			return nil
		}
		var v any
		if err := json.Unmarshal([]byte(e.value), &v); err != nil {
			t.Fatalf("%s: %v", e.value, err)
		}
		return v
	}
	name, rest, _ := strings.Cut(e.path, ".")
	switch at := at.(type) {
	case []any:
		i, err := strconv.Atoi(name)
		if err != nil {
			t.Fatal(err)
		}
		at[i] = edit{rest, e.value}.apply(t, at[i])
	case map[string]any:
		if at[name] = (edit{rest, e.value}).apply(t, at[name]); at[name] == nil {
			delete(at, name)
		}
	case nil:
		return map[string]any{name: edit{rest, e.value}.apply(t, nil)}
	}
	return at
}

// edited is gadgets with some edits.
func edited(t *testing.T, edits []edit) definitionObject {
	t.Helper()
	var o any
	client.Decode(t, gadgets, &o)
	for _, e := range edits {
		o = e.apply(t, o)
	}
	return o.(map[string]any)
}

// publicDefinition is a definition as the public libraries have it.
func publicDefinition(t *testing.T, o definitionObject) *apiextensions.CustomResourceDefinition {
	t.Helper()
	scheme := runtime.NewScheme()
	install.Install(scheme)
	var external v1.CustomResourceDefinition
	if err := json.Unmarshal([]byte(o.json()), &external); err != nil {
		t.Fatalf("%s: %v", o.json(), err)
	}
	scheme.Default(&external)
	var internal apiextensions.CustomResourceDefinition
	if err := scheme.Convert(&external, &internal, nil); err != nil {
		t.Fatal(err)
	}
	return &internal
}

// store adds the version that is stored to those that have been, as the public server does.
func store(d *apiextensions.CustomResourceDefinition) {
	for _, v := range d.Spec.Versions {
		if v.Storage && !slices.Contains(d.Status.StoredVersions, v.Name) {
			d.Status.StoredVersions = append(d.Status.StoredVersions, v.Name)
			return
		}
	}
}

// largeValue is a value that is an object or a list of such. The public libraries tell it as Go has it, Troupe as it was sent.
var largeValue = regexp.MustCompile(`(Invalid value: )(\{.*\}|\[\{.*\}\])(: )`)

// definitionTypeName is the name of the type of an object in a rule, which is another one whenever the public libraries compile it.
var definitionTypeName = regexp.MustCompile(`selfType\d+|@self(\.\w+)*`)

// comparableText is the text of a cause, as far as it is the same in both.
func comparableText(text string) string {
	return definitionTypeName.ReplaceAllString(largeValue.ReplaceAllString(text, "$1…$3"), "self")
}

// causesDefinitions are the causes of a refusal as texts; nil if there is none.
func causesDefinitions(answer client.Answer) (all []string) {
	details, _ := answer.Object()["details"].(map[string]any)
	list, _ := details["causes"].([]any)
	for _, c := range list {
		c := definitionObject(c.(map[string]any))
		all = append(all, c.text("field")+": "+c.text("reason")+": "+comparableText(c.text("message")))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// publicCauses are the same of the public libraries.
func publicCauses(errs field.ErrorList) (all []string) {
	for _, e := range errs {
		all = append(all, e.Field+": "+string(e.Type)+": "+comparableText(e.ErrorBody()))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// panics tells whether the public libraries panic, as they do where the fields of a schema that is not structural are selected.
func panics(validate func() field.ErrorList) (errs field.ErrorList, panicked bool) {
	defer func() { panicked = recover() != nil }()
	return validate(), false
}

// expectCauses compares an answer with what the public libraries say of the definition.
func expectCauses(t *testing.T, edits []edit, answer client.Answer, validate func() field.ErrorList) {
	t.Helper()
	errs, panicked := panics(validate)
	got, want := causesDefinitions(answer), publicCauses(errs)
	if panicked {
		if answer.Code != 422 {
			t.Errorf("%v: %s, want 422", edits, answer)
		}
		return
	}
	if refused := answer.Code != 200 && answer.Code != 201; refused != (len(want) > 0) || !slices.Equal(got, want) {
		t.Errorf("%v: %d\n\t%s\nwant\n\t%s", edits, answer.Code, strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// repeat joins n texts, in which # is the number of each.
func repeat(n int, text string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = strings.ReplaceAll(text, "#", strconv.Itoa(i))
	}
	return strings.Join(all, ",")
}

// definitionRuled is the schema of a text with a rule.
const definitionRuled = `{"type":"string","x-kubernetes-validations":[{"rule":"self.size() > 0"}]}`

// changes are tried of new definitions and of existing ones.
var changes = [][]edit{
	{},
	{{"metadata.name", `"other.example.com"`}},
	{{"spec.group", `"example"`}}, {{"spec.group", `"Example.com"`}}, {{"spec.group", `""`}},
	{{"spec.scope", `"Other"`}}, {{"spec.scope", ``}}, {{"spec.scope", `"Cluster"`}},
	{{"spec.names.kind", `"gadget kind"`}}, {{"spec.names.kind", ``}}, {{"spec.names.kind", `"Other"`}},
	{{"spec.names.plural", `"Gadgets"`}}, {{"spec.names.plural", `"others"`}}, {{"spec.names.plural", ``}},
	{{"spec.names.singular", `"A b"`}}, {{"spec.names.singular", `"gizmo"`}}, {{"spec.names.singular", ``}},
	{{"spec.names.listKind", `"Gadget"`}}, {{"spec.names.listKind", `"a b"`}}, {{"spec.names.listKind", `"Gizmos"`}},
	{{"spec.names.shortNames", `["A","b b",""]`}}, {{"spec.names.categories", `["A","all"]`}},
	{{"spec.versions", `[]`}}, {{"spec.versions", ``}},
	{{definitionVersion + "name", `"V1"`}}, {{definitionVersion + "name", `"v2"`}}, {{definitionVersion + "name", `""`}},
	{{definitionVersion + "storage", `false`}}, {{"spec.versions.1.storage", `true`}}, {{definitionVersion + "storage", `false`}, {"spec.versions.1.storage", `true`}},
	{{definitionVersion + "served", `false`}}, {{definitionVersion + "served", `false`}, {"spec.versions.1.served", `false`}},
	{{definitionVersion + "deprecationWarning", `"x"`}}, {{definitionVersion + "deprecated", `true`}, {definitionVersion + "deprecationWarning", `""`}},
	{{definitionVersion + "deprecated", `true`}, {definitionVersion + "deprecationWarning", strconv.Quote(strings.Repeat("x", 257))}},
	{{"spec.preserveUnknownFields", `true`}}, {{"spec.preserveUnknownFields", `false`}},

	{{"spec.conversion", `{"strategy":"Other"}`}}, {{"spec.conversion", `{"strategy":"Webhook"}`}}, {{"spec.conversion", `{"strategy":"None","webhook":{"conversionReviewVersions":["v1"]}}`}},
	{{"spec.conversion", `{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"]}}`}}, {{"spec.conversion", `{"strategy":"Webhook","webhook":{"conversionReviewVersions":[],"clientConfig":{}}}`}},
	{{"spec.conversion", `{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v7","v7","A b"],"clientConfig":{"url":"http://x"}}}`}},
	{{"spec.conversion", `{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v7"],"clientConfig":{"url":"https://x/?a#b"}}}`}},
	{{"spec.conversion", `{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":{"url":"https://x","service":{"name":"a","namespace":"b"}}}}`}},
	{{"spec.conversion", `{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":{"service":{"name":"","namespace":"","port":0,"path":"a//b"}}}}`}},
	{{"spec.conversion", `{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1","v7"],"clientConfig":{"service":{"name":"a","namespace":"b","path":"/x"}}}}`}},

	{{definitionVersion + "schema", ``}}, {{definitionVersion + "schema", `{}`}}, {{root, `{}`}}, {{root, `{"type":"string"}`}}, {{root + ".type", ``}}, {{root + ".additionalProperties", `true`}},
	{{root + ".properties.metadata", `{"type":"string"}`}}, {{root + ".properties.metadata", `{"type":"object","properties":{"name":{"type":"string","pattern":"^a"},"labels":{"type":"object"}}}`}},
	{{root + ".properties.metadata", `{"type":"object","properties":{"name":{"type":"string","default":"x"}}}`}}, {{root + ".properties.apiVersion", `{"type":"integer"}`}}, {{root + ".properties.kind", `{"type":"string","default":"x"}`}},
	{{root + ".nullable", `true`}}, {{root + ".default", `{}`}}, {{root + ".x-kubernetes-embedded-resource", `true`}},
	{{size + ".type", ``}}, {{size + ".type", `"null"`}}, {{size + ".type", `"int"`}}, {{size + ".type", `"array"`}},
	{{size + ".default", `"x"`}}, {{size + ".default", `3`}}, {{size + ".default", `1.5`}}, {{size + ".default", `null`}}, {{size + ".minimum", `4`}, {size + ".default", `3`}},
	{{definitionSpec + ".default", `{"size":"x"}`}}, {{definitionSpec + ".default", `{"unknown":1}`}}, {{definitionSpec + ".default", `{"list":[1]}`}}, {{definitionSpec + ".default", `{"parts":[{"name":"a"},{"name":"a"}]}`}}, {{definitionSpec + ".default", `{"parts":[{}]}`}},
	{{color + ".enum", `[]`}}, {{color + ".enum", `["a",1]`}}, {{color + ".enum", `["a"]`}, {color + ".default", `"b"`}}, {{color + ".pattern", `"("`}}, {{color + ".pattern", `"^a"`}, {color + ".default", `"b"`}},
	{{color + ".format", `"date"`}, {color + ".default", `"b"`}}, {{color + ".format", `"mystery"`}}, {{color + ".maxLength", `-1`}}, {{color + ".minLength", `3`}, {color + ".maxLength", `2`}},
	{{list + ".items", ``}}, {{list + ".items", `[{"type":"string"}]`}}, {{list + ".uniqueItems", `true`}}, {{list + ".additionalItems", `true`}}, {{list + ".items.nullable", `true`}},
	{{list + ".x-kubernetes-list-type", `"other"`}}, {{list + ".x-kubernetes-list-type", `"set"`}}, {{list + ".x-kubernetes-list-type", `"map"`}}, {{list + ".x-kubernetes-list-type", `"set"`}, {list + ".items.nullable", `true`}},
	{{list + ".x-kubernetes-list-type", `"set"`}, {list + ".items", `{"type":"object","properties":{"a":{"type":"string"}}}`}}, {{list + ".x-kubernetes-list-type", `"set"`}, {list + ".items", `{"type":"object","x-kubernetes-map-type":"atomic"}`}},
	{{list + ".x-kubernetes-list-type", `"set"`}, {list + ".items", `{"type":"array","items":{"type":"string"}}`}}, {{list + ".x-kubernetes-list-type", `"set"`}, {list + ".items", `{"type":"array","x-kubernetes-list-type":"atomic","items":{"type":"string"}}`}},
	{{list + ".x-kubernetes-list-type", `"set"`}, {list + ".default", `["a","a"]`}}, {{size + ".x-kubernetes-list-type", `"set"`}}, {{size + ".x-kubernetes-list-map-keys", `["a"]`}},
	{{parts + ".x-kubernetes-list-map-keys", ``}}, {{parts + ".x-kubernetes-list-map-keys", `["other"]`}}, {{parts + ".x-kubernetes-list-map-keys", `["name","name"]`}}, {{parts + ".x-kubernetes-list-map-keys", `[]`}}, {{parts + ".items.required", ``}}, {{parts + ".items.required", ``}, {parts + ".items.properties.name.default", `"x"`}},
	{{parts + ".items.properties.name.nullable", `true`}}, {{parts + ".items.nullable", `true`}}, {{parts + ".items.properties.name.type", `"object"`}}, {{parts + ".x-kubernetes-list-type", ``}}, {{parts + ".x-kubernetes-list-type", `"atomic"`}},
	{{definitionSpec + ".x-kubernetes-map-type", `"other"`}}, {{definitionSpec + ".x-kubernetes-map-type", `"granular"`}}, {{definitionSpec + ".x-kubernetes-map-type", `"atomic"`}}, {{size + ".x-kubernetes-map-type", `"atomic"`}},
	{{definitionSpec + ".additionalProperties", `{"type":"string"}`}}, {{definitionSpec + ".properties", ``}, {definitionSpec + ".additionalProperties", `{"type":"string"}`}}, {{definitionSpec + ".properties", ``}, {definitionSpec + ".additionalProperties", `false`}}, {{definitionSpec + ".properties", ``}, {definitionSpec + ".additionalProperties", `{}`}},
	{{definitionSpec + ".patternProperties", `{"a":{"type":"string"}}`}}, {{definitionSpec + ".dependencies", `{"a":["b"]}`}}, {{definitionSpec + ".definitions", `{"a":{"type":"string"}}`}}, {{definitionSpec + ".$ref", `"#/x"`}}, {{definitionSpec + ".id", `"x"`}},
	{{definitionSpec + ".x-kubernetes-preserve-unknown-fields", `false`}}, {{definitionSpec + ".x-kubernetes-preserve-unknown-fields", `true`}}, {{size + ".x-kubernetes-preserve-unknown-fields", `true`}},
	{{definitionSpec + ".x-kubernetes-embedded-resource", `true`}}, {{definitionSpec + ".properties.a", `{"type":"object","x-kubernetes-embedded-resource":true}`}}, {{definitionSpec + ".properties.a", `{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true}`}}, {{definitionSpec + ".properties.a", `{"type":"string","x-kubernetes-embedded-resource":true}`}},
	{{definitionSpec + ".properties.a", `{"type":"object","x-kubernetes-embedded-resource":true,"properties":{"metadata":{"type":"object","properties":{"name":{"type":"string","default":"A_"}}}}}`}},
	{{definitionSpec + ".properties.a", `{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true,"default":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"A_"}}}`}},
	{{definitionSpec + ".properties.a", `{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true,"default":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a/b","labels":{"a b":"c"}}}}`}}, {{definitionSpec + ".properties.a", `{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true,"default":{"apiVersion":"v1","kind":"Pod","metadata":{"labels":{"a":1}}}}`}}, {{definitionSpec + ".properties.a", `{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true,"default":{"kind":"a b","metadata":{}}}`}},
	{{size + ".x-kubernetes-int-or-string", `true`}}, {{size, `{"x-kubernetes-int-or-string":true}`}}, {{size, `{"x-kubernetes-int-or-string":true,"anyOf":[{"type":"integer"},{"type":"string"}]}`}}, {{size, `{"x-kubernetes-int-or-string":true,"anyOf":[{"type":"string"},{"type":"integer"}]}`}},
	{{size, `{"x-kubernetes-int-or-string":true,"anyOf":[{"type":"integer"},{"type":"string"}],"pattern":"^a","default":"b"}`}},
	{{definitionSpec + ".allOf", `[{"properties":{"size":{"type":"integer"}}}]`}}, {{definitionSpec + ".anyOf", `[{"properties":{"other":{"minimum":1}}}]`}}, {{definitionSpec + ".oneOf", `[{"required":["size"]},{"default":{}}]`}}, {{definitionSpec + ".not", `{"properties":{"size":{"minimum":3}},"description":"x"}`}}, {{definitionSpec + ".not", `{"additionalProperties":true}`}}, {{definitionSpec + ".anyOf", `[{"x-kubernetes-preserve-unknown-fields":true}]`}}, {{definitionSpec + ".anyOf", `[{"nullable":true,"title":"a"}]`}},
	{{size + ".multipleOf", `0`}}, {{size + ".minimum", `5`}, {size + ".maximum", `4`}}, {{definitionSpec + ".required", `["other"]`}}, {{definitionSpec + ".maxProperties", `-1`}}, {{definitionSpec + ".example", `{"a":1}`}}, {{definitionSpec + ".externalDocs", `{"url":"x"}`}},

	{{definitionSpec + ".x-kubernetes-validations", `[{"rule":""}]`}}, {{definitionSpec + ".x-kubernetes-validations", `[{"rule":"self.nope"}]`}}, {{definitionSpec + ".x-kubernetes-validations", `[{"rule":"self.size"}]`}}, {{definitionSpec + ".x-kubernetes-validations", `[{"rule":"("}]`}}, {{definitionSpec + ".x-kubernetes-validations", `[{"rule":"  "}]`}},
	{{definitionSpec + ".x-kubernetes-validations", `[{"rule":"true","message":"a\nb"}]`}}, {{definitionSpec + ".x-kubernetes-validations", `[{"rule":"true\n&& true"}]`}}, {{definitionSpec + ".x-kubernetes-validations", `[{"rule":"true\n&& true","message":"m"}]`}}, {{definitionSpec + ".x-kubernetes-validations", `[{"rule":"true","message":"  "}]`}}, {{definitionSpec + ".x-kubernetes-validations", strings.ReplaceAll(`[{"rule":"true","message":"#"}]`, "#", strings.Repeat("x", 2049))}},
	{{definitionSpec + ".x-kubernetes-validations", `[{"rule":"true","messageExpression":"1"}]`}}, {{definitionSpec + ".x-kubernetes-validations", `[{"rule":"true","messageExpression":"nope"}]`}}, {{definitionSpec + ".x-kubernetes-validations", `[{"rule":"true","messageExpression":" "}]`}}, {{definitionSpec + ".x-kubernetes-validations", `[{"rule":"true","messageExpression":"'a'+self.color"}]`}},
	{{definitionSpec + ".x-kubernetes-validations", `[{"rule":"true","reason":"Other"}]`}}, {{definitionSpec + ".x-kubernetes-validations", `[{"rule":"true","reason":"FieldValueForbidden"}]`}},
	{{definitionSpec + ".x-kubernetes-validations", `[{"rule":"true","fieldPath":".nope"}]`}}, {{definitionSpec + ".x-kubernetes-validations", `[{"rule":"true","fieldPath":""}]`}}, {{definitionSpec + ".x-kubernetes-validations", `[{"rule":"true","fieldPath":".list[0]"}]`}}, {{definitionSpec + ".x-kubernetes-validations", `[{"rule":"true","fieldPath":".size"}]`}}, {{definitionSpec + ".x-kubernetes-validations", `[{"rule":"true","fieldPath":"size"}]`}}, {{definitionSpec + ".x-kubernetes-validations", `[{"rule":"true","fieldPath":".a\n"}]`}},
	{{definitionSpec + ".x-kubernetes-validations", `[{"rule":"tru(","fieldPath":".nope\n"},{"rule":"","reason":"x","fieldPath":" "}]`}, {definitionSpec + ".uniqueItems", `true`}}, {{definitionSpec + ".x-kubernetes-validations", `[{"rule":"self.nope","fieldPath":".nope"}]`}, {definitionSpec + ".type", `"other"`}},
	{{definitionSpec + ".x-kubernetes-validations", `[{"rule":"true","optionalOldSelf":true}]`}}, {{definitionSpec + ".x-kubernetes-validations", `[{"rule":"self == oldSelf","optionalOldSelf":true}]`}}, {{definitionSpec + ".x-kubernetes-validations", `[{"rule":"oldSelf.hasValue()","optionalOldSelf":true}]`}}, {{list + ".items.x-kubernetes-validations", `[{"rule":"self == oldSelf"}]`}}, {{parts + ".items.x-kubernetes-validations", `[{"rule":"self == oldSelf"}]`}},
	{{definitionSpec + ".x-kubernetes-validations", `[{"rule":"self.size > 3"}]`}, {definitionSpec + ".default", `{"size":1}`}}, {{definitionSpec + ".x-kubernetes-validations", `[{"rule":"self == oldSelf"}]`}, {definitionSpec + ".default", `{}`}},
	{{list + ".maxItems", ``}, {list + ".items.maxLength", ``}, {definitionSpec + ".x-kubernetes-validations", `[{"rule":"self.list.all(x, self.list.all(y, x == y))"}]`}}, {{list + ".maxItems", ``}, {list + ".items.x-kubernetes-validations", `[{"rule":"self.contains('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa')"}]`}, {list + ".items.maxLength", ``}},
	{{list + ".maxItems", ``}, {list + ".items.maxLength", ``}, {definitionSpec + ".x-kubernetes-validations", `[{"rule":"true","messageExpression":"self.list.map(x, self.list.map(y, x+y).join()).join()"}]`}},
	{{definitionSpec + ".anyOf", `[{"x-kubernetes-validations":[{"rule":"true"}]}]`}}, {{root + ".x-kubernetes-validations", `[{"rule":"self.metadata.name.size() < 5 && self.metadata.labels.size() > 1"}]`}},
	{{root + ".x-kubernetes-validations", `[{"rule":"self.spec.list.all(x, x.matches('('))"}]`}}, {{definitionSpec + ".properties.any", `{"type":"object","x-kubernetes-preserve-unknown-fields":true,"x-kubernetes-validations":[{"rule":"self.a"}]}`}},

	{{definitionSpec + ".properties.deep", nestedDefinitions(2, definitionRuled)}}, {{definitionSpec + ".properties.deep", nestedDefinitions(5, definitionRuled)}}, {{definitionSpec + ".properties.deep", nestedDefinitions(30, definitionRuled)}},
	{{definitionSpec + ".x-kubernetes-validations", `[{"rule":"` + "'" + strings.Repeat("a", 1000) + "'.replace('a', '" + strings.Repeat("b", 1000) + "').replace('b', self.color).size() > 0" + `"}]`}},

	{{definitionVersion + "additionalPrinterColumns", `[{"name":"","type":"integer","jsonPath":".spec"}]`}}, {{definitionVersion + "additionalPrinterColumns", `[{"name":"a","type":"other","jsonPath":".spec"}]`}}, {{definitionVersion + "additionalPrinterColumns", `[{"name":"a","type":"","jsonPath":""}]`}}, {{definitionVersion + "additionalPrinterColumns", `[{"name":"a","type":"date","format":"other","jsonPath":"spec["}]`}},
	{{definitionVersion + "additionalPrinterColumns", `[{"name":"a","type":"string","format":"int32","jsonPath":".spec.list[?(@ == 'a')]"},{"name":"a","type":"string","jsonPath":".spec.list[*]"}]`}},
	{{definitionVersion + "selectableFields", `[{"jsonPath":""}]`}}, {{definitionVersion + "selectableFields", `[{"jsonPath":".spec.nope"}]`}}, {{definitionVersion + "selectableFields", `[{"jsonPath":".spec.list"}]`}}, {{definitionVersion + "selectableFields", `[{"jsonPath":".spec.color"},{"jsonPath":".spec.color"}]`}}, {{definitionVersion + "selectableFields", `[{"jsonPath":".metadata.name"}]`}}, {{definitionVersion + "selectableFields", `[{"jsonPath":".metadata.name"}]`}, {root + ".properties.metadata", `{"type":"object","properties":{"name":{"type":"string"}}}`}},
	{{definitionVersion + "selectableFields", `[` + repeat(9, `{"jsonPath":".spec.map.k#"}`) + `]`}, {definitionSpec + ".properties.map", `{"type":"object","additionalProperties":{"type":"integer"}}`}}, {{definitionVersion + "selectableFields", `[{"jsonPath":"spec.color"}]`}}, {{definitionVersion + "selectableFields", `[{"jsonPath":".spec.parts[0].name"}]`}}, {{definitionVersion + "selectableFields", `[` + repeat(9, `{"jsonPath":".spec.size"}`) + `]`}},
	{{definitionVersion + "subresources.scale", `{}`}}, {{definitionVersion + "subresources.scale", `{"specReplicasPath":"spec.size","statusReplicasPath":".spec.size"}`}}, {{definitionVersion + "subresources.scale", `{"specReplicasPath":".spec.size","statusReplicasPath":".status.size","labelSelectorPath":".a"}`}}, {{definitionVersion + "subresources.scale", `{"specReplicasPath":".spec.list[0]","statusReplicasPath":".status.ready"}`}}, {{definitionVersion + "subresources.scale", `{"specReplicasPath":".spec.size","statusReplicasPath":".status.size","labelSelectorPath":".spec.sel"}`}}, {{definitionVersion + "subresources", ``}},
	{{"spec.versions.1.schema", ``}}, {{"spec.versions.1", `{"name":"v3","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object"}}}`}},
	{{"metadata.annotations", `{"api-approved.kubernetes.io":"x"}`}}, {{"metadata.name", `"gadgets.a.k8s.io"`}, {"spec.group", `"a.k8s.io"`}}, {{"metadata.name", `"gadgets.a.k8s.io"`}, {"spec.group", `"a.k8s.io"`}, {"metadata.annotations", `{"api-approved.kubernetes.io":"x"}`}},
}

// TestRefusals holds what is refused of definitions, and how it is told, against the public libraries.
func TestRefusals(t *testing.T) {
	t.Parallel()
	s := client.Open(t, func(c *daemon.Config) { c.Naming = "kubernetes" })
	for _, edits := range changes {
		o := edited(t, edits)
		d := publicDefinition(t, o)
		store(d)
		answer, err := s.Do(s.Ctx, "POST", path+"?dryRun=All", client.JSON, []byte(o.json()))
		if err != nil {
			t.Fatal(err)
		}
		expectCauses(t, edits, answer, func() field.ErrorList { return validation.ValidateCustomResourceDefinition(s.Ctx, d) })
	}
}

// TestRefusedUpdates does the same of changes of a definition that is served.
func TestRefusedUpdates(t *testing.T) {
	t.Parallel()
	s := client.Open(t, func(c *daemon.Config) { c.Naming = "kubernetes" })
	s.Send(201, "POST", path, client.JSON, gadgets)
	at := path + "/gadgets.example.com"
	var before definitionObject
	client.Eventually(t, func() error {
		answer := s.Send(200, "GET", at, "", "")
		before = definitionObject(answer.Object())
		if !strings.Contains(answer.String(), `"type":"Established"`) {
			return &answer
		}
		return nil
	})
	old := publicDefinition(t, before)
	for _, edits := range changes {
		o := edited(t, edits)
		if o.text("metadata", "name") != "gadgets.example.com" {
			continue
		}
		metadata := before["metadata"].(map[string]any)
		for name, v := range metadata {
			if given := o["metadata"].(map[string]any); given[name] == nil {
				given[name] = v
			}
		}
		d := publicDefinition(t, o)
		d.Status = *old.Status.DeepCopy()
		store(d)
		answer, err := s.Do(s.Ctx, "PUT", at+"?dryRun=All", client.JSON, []byte(o.json()))
		if err != nil {
			t.Fatal(err)
		}
		expectCauses(t, edits, answer, func() field.ErrorList { return validation.ValidateCustomResourceDefinitionUpdate(s.Ctx, d, old) })
	}
}
