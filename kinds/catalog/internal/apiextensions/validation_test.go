package apiextensions_test

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/catalog/internal/catalogtest"
	"github.com/troupe-api/troupe/kinds/meta"
)

func TestDefinitionValidation(t *testing.T) {
	const at = "spec.validation.openAPIV3Schema"
	upper := strings.ReplaceAll(definition("", versionV1), "a.example", "A.example")
	catalogtest.RunValidationCases(t, definitionKind(t, meta.Platform), []catalogtest.ValidationCase{
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
		{Obj: schemaOf(`{"type":"object","not":{"properties":{"b":{"minLength":1}}}}`), Want: atX(
			`.properties[b]: Required value: because it is defined in spec.validation.openAPIV3Schema.properties[x].not.properties[b]`)},
		{Obj: schemaOf(`{"type":"object","allOf":[{"anyOf":[{"properties":{"b":{"minLength":1}}}]}]}`), Want: atX(
			`.properties[b]: Required value: because it is defined in spec.validation.openAPIV3Schema.properties[x].allOf[0].anyOf[0].properties[b]`)},
	})
}

// TestWarningWithInvalidUTF8 sets text that JSON cannot hold, but Protobuf can.
func TestWarningWithInvalidUTF8(t *testing.T) {
	k := definitionKind(t, meta.Platform)
	obj := catalogtest.Named(k, catalogtest.Parse(t, storedVersion(`"deprecated":true`)))
	obj.Object("spec").Objects("versions")[0]["deprecationWarning"] = "a\xff"
	catalogtest.Expect(t, "warning", catalogtest.Create(k, obj), []string{`spec.versions[0].deprecationWarning: Invalid value: "a\xff": must only contain printable UTF-8 characters`})
}
