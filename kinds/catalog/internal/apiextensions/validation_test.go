package apiextensions_test

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/catalog/internal/catalogtest"
	"github.com/troupe-api/troupe/kinds/meta"
)

func TestDefinitionValidation(t *testing.T) {
	const at = "spec.validation.openAPIV3Schema"
	upper := strings.ReplaceAll(catalogtest.Definition("", catalogtest.V1Version), "a.example", "A.example")
	catalogtest.RunValidationCases(t, catalogtest.Definitions(t, meta.Platform), []catalogtest.ValidationCase{
		{Obj: upper, Want: []string{`metadata.name: Invalid value: "widgets.A.example": a lowercase RFC 1123 subdomain…`, `spec.group: Invalid value: "A.example": a lowercase RFC 1123 subdomain…`}},
		{Obj: catalogtest.Definition(`,"conversion":{"strategy":"Webhook","webhook":{"clientConfig":{},"conversionReviewVersions":["v1"]}}`, catalogtest.V1Version), Want: []string{
			`spec.conversion.webhookClientConfig: Required value: exactly one of url or service is required`}},
		{Obj: catalogtest.RootSchema(`{"type":"array","items":{"type":"string"}}`, `"subresources":{"status":{}}`), Want: []string{
			at + `.type: Invalid value: "array": only "object" is allowed as the type at the root of the schema if the status subresource is enabled`, at + `.type: Invalid value: "array": must be object at the root`}},
		{Obj: catalogtest.SchemaOf(`{"type":"array","x-platform-list-type":"map","x-platform-list-map-keys":["k"],"items":[{"type":"object"}]}`), Want: catalogtest.AtX(
			`.items: Forbidden: items must be a schema object and not an array`, `.items: Invalid value: [{"type":"object"}]: must only have a single schema if x-platform-list-type is map`)},
		{Obj: catalogtest.SchemaOf(`{"x-platform-preserve-unknown-fields":true,"x-platform-list-type":"atomic"}`), Want: catalogtest.AtX(`.type: Required value: must be array if x-platform-list-type is specified`)},
		{Obj: catalogtest.SchemaOf(`{"type":"string","x-platform-embedded-resource":true,"x-platform-preserve-unknown-fields":true}`), Want: catalogtest.AtX(`.type: Invalid value: "string": must be object if x-platform-embedded-resource is true`)},
		{Obj: catalogtest.SchemaOf(`{"type":"object","x-platform-embedded-resource":true,"x-platform-preserve-unknown-fields":true,"additionalProperties":{"type":"string"}}`), Want: catalogtest.AtX(
			`.additionalProperties: Forbidden: must not be used if x-platform-embedded-resource is set`)},
		{Obj: catalogtest.SchemaOf(`{"type":"object","additionalProperties":{"type":"file"}}`), Want: catalogtest.AtX(`.additionalProperties.type: Unsupported value: "file": supported values: "array", "boolean"…`)},
		{Obj: catalogtest.SchemaOf(`{"type":"object","anyOf":[{"id":"a"}]}`), Want: catalogtest.AtX(`.anyOf[0].id: Forbidden: id is not supported`)},
		{Obj: catalogtest.SchemaOf(`{"x-platform-int-or-string":true,"allOf":[{"anyOf":[{"type":"integer"},{"type":"string"}]}]}`)},
		{Obj: catalogtest.SchemaOf(`{"x-platform-int-or-string":true,"allOf":[{"anyOf":[{"type":"integer"},{"type":"string"}],"title":"t"}]}`), Want: catalogtest.AtX(`.allOf[0].title: Forbidden: must be empty to be structural`)},
		{Obj: catalogtest.SchemaOf(`{"type":"string","allOf":[{"anyOf":[{"type":"string"}]}]}`), Want: catalogtest.AtX(`.allOf[0].anyOf[0].type: Forbidden: must be empty to be structural`)},
		{Obj: catalogtest.SchemaOf(`{"type":"object","not":{"properties":{"b":{"minLength":1}}}}`), Want: catalogtest.AtX(
			`.properties[b]: Required value: because it is defined in spec.validation.openAPIV3Schema.properties[x].not.properties[b]`)},
		{Obj: catalogtest.SchemaOf(`{"type":"object","allOf":[{"anyOf":[{"properties":{"b":{"minLength":1}}}]}]}`), Want: catalogtest.AtX(
			`.properties[b]: Required value: because it is defined in spec.validation.openAPIV3Schema.properties[x].allOf[0].anyOf[0].properties[b]`)},
	})
}

// TestWarningWithInvalidUTF8: JSON cannot hold such a text, the other forms can.
func TestWarningWithInvalidUTF8(t *testing.T) {
	k := catalogtest.Definitions(t, meta.Platform)
	obj := catalogtest.Named(k, catalogtest.Parse(t, catalogtest.Version(`"deprecated":true`)))
	obj.Object("spec").Objects("versions")[0]["deprecationWarning"] = "a\xff"
	catalogtest.Expect(t, "warning", catalogtest.Create(k, obj), []string{`spec.versions[0].deprecationWarning: Invalid value: "a\xff": must only contain printable UTF-8 characters`})
}
