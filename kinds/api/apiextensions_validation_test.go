package api_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

func TestDefinitionValidation(t *testing.T) {
	const at, rootFields = "spec.validation.openAPIV3Schema", ": only [Description Type…"
	upper := strings.ReplaceAll(definition("", versionV1), "a.example", "A.example")
	RunValidationCases(t, definitionKind(t, meta.Platform), []ValidationCase{
		{Obj: upper, Want: []string{`metadata.name: Invalid value: "widgets.A.example": a lowercase RFC 1123 subdomain…`, `spec.group: Invalid value: "A.example": a lowercase RFC 1123 subdomain…`}},
		{Obj: definition(`,"conversion":{"strategy":"Webhook","webhook":{"clientConfig":{},"conversionReviewVersions":["v1"]}}`, versionV1), Want: []string{
			`spec.conversion.webhookClientConfig: Required value: exactly one of url or service is required`}},
		{Obj: rootSchema(`{"type":"array","items":{"type":"string"}}`, `"subresources":{"status":{}}`), Want: []string{
			at + `.type: Invalid value: "array": only "object" is allowed as the type at the root of the schema if the status subresource is enabled`, at + `.type: Invalid value: "array": must be object at the root`}},
		{Obj: schemaOf(`{"type":"array","x-platform-list-type":"map","x-platform-list-map-keys":["k"],"items":[{"type":"object"}]}`), Want: atX(
			`.items: Forbidden: items must be a schema object and not an array`, `.items: Invalid value: [{"type":"object"}]: must only have a single schema if x-platform-list-type is map`)},
		{Obj: schemaOf(`{"x-platform-preserve-unknown-fields":true,"x-platform-list-type":"atomic"}`), Want: atX(`.type: Required value: must be array if x-platform-list-type is specified`)},
		{Obj: schemaOf(`{"type":"string","x-platform-embedded-resource":true,"x-platform-preserve-unknown-fields":true}`), Want: atX(`.type: Invalid value: "string": must be object if x-platform-embedded-resource is true`)},
		{Obj: schemaOf(`{"type":"object","x-platform-embedded-resource":true,"x-platform-preserve-unknown-fields":true,"additionalProperties":{"type":"string"}}`), Want: atX(
			`.additionalProperties: Forbidden: must not be used if x-platform-embedded-resource is set`)},
		{Obj: schemaOf(`{"type":"object","additionalProperties":{"type":"file"}}`), Want: atX(`.additionalProperties.type: Unsupported value: "file": supported values: "array", "boolean"…`)},
		{Obj: schemaOf(`{"type":"object","anyOf":[{"id":"a"}]}`), Want: atX(`.anyOf[0].id: Forbidden: id is not supported`)},
		{Obj: schemaOf(`{"x-platform-int-or-string":true,"allOf":[{"anyOf":[{"type":"integer"},{"type":"string"}]}]}`)},
		{Obj: schemaOf(`{"x-platform-int-or-string":true,"allOf":[{"anyOf":[{"type":"integer"},{"type":"string"}],"title":"t"}]}`), Want: atX(`.allOf[0].title: Forbidden: must be empty to be structural`)},
		{Obj: schemaOf(`{"type":"string","allOf":[{"anyOf":[{"type":"string"}]}]}`), Want: atX(`.allOf[0].anyOf[0].type: Forbidden: must be empty to be structural`)},
		{Obj: schemaOf(`{"type":"object","not":{"properties":{"b":{"minLength":1}}}}`)},
		{Obj: rootSchema(`{"type":"object","not":{"properties":{"b":{"minLength":1}}}}`, `"served":true`), Want: []string{
			at + `.properties[b]: Required value: because it is defined in spec.validation.openAPIV3Schema.not.properties[b]`}},
		{Obj: rootSchema(`{"type":"object","allOf":[{"anyOf":[{"properties":{"b":{"minLength":1}}}]}]}`, `"served":true`), Want: []string{
			at + `.properties[b]: Required value: because it is defined in spec.validation.openAPIV3Schema.allOf[0].anyOf[0].properties[b]`}},
		{Obj: rootSchema(`{"type":"object","additionalProperties":{"type":"string"}}`, `"served":true`), Want: []string{at + `.additionalProperties: Forbidden: must not be used at the root`}},
		{Obj: rootSchema(`{"type":"object","additionalProperties":false}`, `"served":true`), Want: []string{at + `.additionalProperties: Forbidden: must not be used at the root`}},
		{Obj: rootSchema(`{"type":"object","enum":[],"definitions":{},"x-platform-list-map-keys":[]}`, `"served":true`)},
		{Obj: rootSchema(`{"type":"object","x-platform-list-map-keys":[]}`, `"subresources":{"status":{}}`), Want: []string{at + `: Invalid value: {"type":"object","x-platform-list-map-keys":[]}` + rootFields}},
		{Obj: rootSchema(`{"type":"object","enum":[]}`, `"subresources":{"status":{}}`), Want: []string{at + `: Invalid value: {"enum":[],"type":"object"}` + rootFields}},
		{Obj: rootSchema(`{"type":"object","definitions":{}}`, `"subresources":{"status":{}}`), Want: []string{at + `: Invalid value: {"definitions":{},"type":"object"}` + rootFields}},
		{Obj: rootSchema(`{"type":"object","nullable":false,"id":"","x-platform-embedded-resource":false,"required":[]}`, `"subresources":{"status":{}}`)},
		{Obj: schemaOf(`{"type":"object","dependencies":{},"additionalItems":{},"$ref":"","patternProperties":{},"definitions":{},"id":""}`), Want: atX(`.additionalItems: Forbidden: additionalItems is not supported`,
			`.dependencies: Forbidden: dependencies is not supported`, `.$ref: Forbidden: $ref is not supported`)},
		{Obj: schemaOf(`{"type":"string","pattern":"("}`), Want: atX(`.pattern: Invalid value: "(": must be a valid regular expression, but isn't: error parsing regexp: missing closing ): ` + "`(`")},
		{Obj: schemaOf(`{"type":"string","allOf":[{"pattern":"(a{250}){250}"}]}`), Want: atX(
			`.allOf[0].pattern: Invalid value: "(a{250}){250}": must be a valid regular expression, but isn't: the expression is too large`)},
		{Obj: schemaOf(`{"type":"object","properties":{` + manyPatterns + `}}`), Want: []string{
			at + `: Forbidden: must not have so many large patterns: what they take in memory together is limited`}},
	})
}

// manyPatterns are properties whose compiled patterns are large.
var manyPatterns = func() string {
	var all []string
	for i := range 20 {
		all = append(all, fmt.Sprintf(`"p%d":{"type":"string","pattern":"(a{200}){200}"}`, i))
	}
	return strings.Join(all, ",")
}()

// TestDefaultsOfSchemas: a default must be valid by its own schema.
func TestDefaultsOfSchemas(t *testing.T) {
	RunValidationCases(t, definitionKind(t, meta.Platform), []ValidationCase{
		{Obj: schemaOf(`{"type":"string","default":1}`), Want: atX(`.default: Invalid value: "integer":  in body must be of type string: "integer"`)},
		{Obj: schemaOf(`{"type":"string","enum":["a"],"default":"b"}`), Want: atX(`.default: Unsupported value: "b": supported values: "a"`)},
		{Obj: schemaOf(`{"type":"string","pattern":"^a","maxLength":1,"default":"bb"}`), Want: atX(`.default: Too long: may not be more than 1 bytes`)},
		{Obj: schemaOf(`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"default":{"b":1}}`), Want: atX(
			`.default: Invalid value: {"b":1}: must not have unknown fields`, `.default.a: Required value`)},
		{Obj: schemaOf(`{"type":"object","properties":{"a":{"type":"string"}},"x-platform-preserve-unknown-fields":true,"default":{"b":1}}`)},
		{Obj: schemaOf(`{"type":"array","items":{"type":"object","properties":{"a":{"type":"integer","minimum":2,"default":1}}}}`), Want: atX(
			`.items.properties[a].default: Invalid value: 1:  in body should be greater than or equal to 2`)},
		{Obj: schemaOf(`{"type":"array","items":{"type":"object","properties":{"a":{"type":"integer"}}},"default":[{"a":"x"}]}`), Want: atX(
			`.default[0].a: Invalid value: "string": [0].a in body must be of type integer: "string"`)},
		{Obj: schemaOf(`{"type":"integer","x-platform-validations":[{"rule":"self > 1"}],"default":1}`), Want: atX(`.default: Invalid value: 1: failed rule: self > 1`)},
		{Obj: schemaOf(`{"type":"integer","x-platform-validations":[{"rule":"oldSelf.hasValue()","optionalOldSelf":true}],"default":1}`), Want: atX(
			`.default: Invalid value: 1: failed rule: oldSelf.hasValue()`)},
		{Obj: schemaOf(`{"type":"integer","x-platform-validations":[{"rule":"self > 1"}],"default":2}`)},
		{Obj: schemaOf(`{"type":"string","nullable":true,"default":null}`)},
		{Obj: schemaOf(`{"type":"object","additionalProperties":{"type":"string","default":1}}`)},
	})
}

// TestWarningWithInvalidUTF8 sets text that Protobuf can carry, but not JSON.
func TestWarningWithInvalidUTF8(t *testing.T) {
	k := definitionKind(t, meta.Platform)
	obj := Named(k, Parse(t, storedVersion(`"deprecated":true`)))
	obj.Object("spec").Objects("versions")[0]["deprecationWarning"] = "a\xff"
	Expect(t, "warning", Create(k, obj), []string{`spec.versions[0].deprecationWarning: Invalid value: "a\xff": must only contain printable UTF-8 characters`})
}

// TestUnchangedSchema: a CRD accepted under older limits can change as long as its schema stays.
func TestUnchangedSchema(t *testing.T) {
	k := definitionKind(t, meta.Platform)
	stored := Parse(t, schemaOf(`{"type":"string","default":1}`)).Object("spec")
	changed := func(from, to string) tree.Tree {
		return Parse(t, strings.Replace(schemaOf(`{"type":"string","default":1}`), from, to, 1)).Object("spec")
	}
	for _, test := range []struct {
		spec tree.Tree
		want int
	}{
		{changed(`"kind":"Widget"`, `"kind":"Widget","singular":"widget","listKind":"WidgetList","shortNames":["w"]`), 0},
		{changed(`"default":1`, `"default":2`), 1},
		{changed(`"name":"v1"`, `"name":"v2"`), 1},
	} {
		var faults schema.Faults
		names := test.spec.EnsureObject("names")
		names["listKind"], names["singular"] = "WidgetList", "widget"
		if k.Strategy.Validate(tree.Tree{"spec": test.spec}, tree.Tree{"spec": stored}, &faults); len(faults.List) != test.want {
			t.Errorf("%v, want %d", faults.List, test.want)
		}
	}
}
