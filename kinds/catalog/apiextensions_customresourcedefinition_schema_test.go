package catalog_test

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
)

// schemaOf is a definition with a schema whose property x is as given.
func schemaOf(x string) string {
	return strings.Replace(definition("", v1), anySchema, `"schema":{"openAPIV3Schema":{"type":"object","properties":{"x":`+x+`}}}`, 1)
}

// root is a definition with a whole schema.
func root(s, more string) string {
	return strings.Replace(version(more), anySchema, `"schema":{"openAPIV3Schema":`+s+`}`, 1)
}

// atX are faults below the property x; those that begin with "^" stand by themselves.
func atX(faults ...string) []string {
	for i, f := range faults {
		faults[i] = "spec.validation.openAPIV3Schema.properties[x]" + f
	}
	return faults
}

func TestSchemaKeywords(t *testing.T) {
	runValidationCases(t, definitions(t, meta.Kubernetes), []validationCase{
		{obj: schemaOf(`{"type":"string","maxLength":3,"default":"a"}`)},
		{obj: schemaOf(`{"type":"object","x-kubernetes-preserve-unknown-fields":true}`)},
		{obj: schemaOf(`{"type":"object","x-kubernetes-preserve-unknown-fields":false}`), want: atX(`.x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true or undefined`)},
		{obj: schemaOf(`{"type":"null"}`), want: atX(`.type: Forbidden: type cannot be set to null, use nullable as an alternative`)},
		{obj: schemaOf(`{"type":"file"}`), want: atX(`.type: Unsupported value: "file": supported values: "array", "boolean", "integer", "number", "object", "string"`)},
		{obj: schemaOf(`{"type":"string","id":"a","$ref":"#/b"}`), want: atX(`.id: Forbidden: id is not supported`, `.$ref: Forbidden: $ref is not supported`)},
		{obj: schemaOf(`{"type":"object","patternProperties":{"a":{"type":"string"}},"definitions":{"a":{"type":"string"}},"dependencies":{"a":["b"]}}`), want: atX(
			`.patternProperties: Forbidden: patternProperties is not supported`, `.definitions: Forbidden: definitions is not supported`, `.dependencies: Forbidden: dependencies is not supported`)},
		{obj: schemaOf(`{"type":"array","items":[{"type":"string"}],"additionalItems":true}`), want: atX(`.additionalItems: Forbidden: additionalItems is not supported`, `.items: Forbidden: items must be a schema object and not an array`)},
		{obj: schemaOf(`{"type":"array","uniqueItems":true,"items":{"type":"string"}}`), want: atX(`.uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic`)},
		{obj: schemaOf(`{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":{"type":"string"}}`), want: atX(`.additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive`)},
		{obj: schemaOf(`{"type":"string","x-kubernetes-map-type":"odd"}`), want: atX(`.type: Invalid value: "string": must be object if x-kubernetes-map-type is specified`, `.x-kubernetes-map-type: Unsupported value: "odd": supported values: "atomic", "granular"`)},
		{obj: schemaOf(`{"type":"object","x-kubernetes-validations":[{"rule":" "},{"rule":"a\nb"},{"rule":"a","message":" ","messageExpression":" ","reason":"Bored"},{"rule":"b","message":"a\nb"}]}`), want: atX(
			`.x-kubernetes-validations[0].rule: Required value: rule is not specified`, `.x-kubernetes-validations[1].message: Required value: message must be specified if rule contains line breaks`,
			`.x-kubernetes-validations[2].message: Invalid value: " ": message must be non-empty if specified`, `.x-kubernetes-validations[2].messageExpression: Required value: must be non-empty if specified`,
			`.x-kubernetes-validations[2].reason: Unsupported value: "Bored": supported values: "FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"`,
			`.x-kubernetes-validations[3].message: Invalid value: "a\nb": message must not contain line breaks`)},
	})
}

func TestSchemaRoot(t *testing.T) {
	const at = "spec.validation.openAPIV3Schema"
	runValidationCases(t, definitions(t, meta.Platform), []validationCase{
		{obj: root(`{"type":"object","nullable":true}`, `"served":true`), want: []string{at + `.nullable: Forbidden: nullable cannot be true at the root`}},
		{obj: root(`{"type":"string"}`, `"served":true`), want: []string{at + `.type: Invalid value: "string": must be object at the root`}},
		{obj: root(`{"properties":{"a":{"type":"string"}}}`, `"served":true`), want: []string{at + `.type: Required value: must not be empty at the root`}},
		{obj: root(`{"x-platform-preserve-unknown-fields":true}`, `"served":true`)},
		{obj: root(`{"type":"object","allOf":[{"required":["a"]}]}`, `"subresources":{"status":{}}`), want: []string{at + `: Invalid value: {"allOf":[{"required":["a"]}],"type":"object"}: only […`}},
		{obj: root(`{"type":"object","required":["a"],"x-platform-validations":[{"rule":"true"}]}`, `"subresources":{"status":{}}`)},
		{obj: root(`{"type":"object","properties":{"metadata":{"type":"object","properties":{"name":{"type":"string"},"generateName":{"type":"string"}}},"kind":{"type":"string"}}}`, `"served":true`)},
		{obj: root(`{"type":"object","properties":{"metadata":{"type":"object","properties":{"labels":{"type":"object"}}},"kind":{"type":"integer"},"apiVersion":{"type":"string","default":"v1"}}}`, `"served":true`), want: []string{
			at + `.properties[apiVersion].default: Forbidden: must not be set in top-level apiVersion`, at + `.properties[kind].type: Invalid value: "integer": must be string`,
			at + `.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified`}},
		{obj: root(`{"type":"object","properties":{"metadata":{"type":"array","items":{"type":"string"}}}}`, `"served":true`), want: []string{
			at + `.properties[metadata].type: Invalid value: "array": must be object`, at + `.properties[metadata]: Forbidden: must not specify anything other…`}},
	})
}

func TestSchemaLists(t *testing.T) {
	const key = `"required":["k"],"properties":{"k":{"type":"string"}}`
	runValidationCases(t, definitions(t, meta.Platform), []validationCase{
		{obj: schemaOf(`{"type":"array","x-platform-list-type":"map","x-platform-list-map-keys":["k"],"items":{"type":"object",` + key + `}}`)},
		{obj: schemaOf(`{"type":"array","x-platform-list-type":"heap","items":{"type":"string"}}`), want: atX(`.x-platform-list-type: Unsupported value: "heap": supported values: "atomic", "set", "map"`)},
		{obj: schemaOf(`{"type":"object","x-platform-list-type":"atomic"}`), want: atX(`.type: Invalid value: "object": must be array if x-platform-list-type is specified`)},
		{obj: schemaOf(`{"type":"array","x-platform-list-type":"set","items":{"type":"object"}}`), want: atX(`.items.x-platform-map-type: Invalid value: null: must be atomic as item of a list with x-platform-list-type=set`)},
		{obj: schemaOf(`{"type":"array","x-platform-list-type":"set","items":{"type":"array","x-platform-list-type":"set","items":{"type":"string","nullable":true}}}`), want: atX(
			`.items.items.nullable: Forbidden: cannot be nullable when x-platform-list-type is set`, `.items.x-platform-list-type: Invalid value: "set": must be atomic as item of a list with x-platform-list-type=set`)},
		{obj: schemaOf(`{"type":"array","x-platform-list-map-keys":["k"],"items":{"type":"object"}}`), want: atX(`.x-platform-list-type: Required value: must be map if x-platform-list-map-keys is non-empty`)},
		{obj: schemaOf(`{"type":"array","x-platform-list-type":"set","x-platform-list-map-keys":["k"],"items":{"type":"string"}}`), want: atX(`.x-platform-list-type: Invalid value: "set": must be map if x-platform-list-map-keys is non-empty`)},
		{obj: schemaOf(`{"type":"array","x-platform-list-type":"map"}`), want: atX(`.x-platform-list-map-keys: Required value: must not be empty if x-platform-list-type is map`,
			`.items: Required value: must have a schema if x-platform-list-type is map`, `.items: Required value: must be specified`)},
		{obj: schemaOf(`{"type":"array","x-platform-list-type":"map","x-platform-list-map-keys":["k"],"items":{"type":"string"}}`), want: atX(`.items.type: Invalid value: "string": must be object if parent array's x-platform-list-type is map`)},
		{obj: schemaOf(`{"type":"array","x-platform-list-type":"map","x-platform-list-map-keys":["k","k","l"],"items":{"type":"object",` + key + `}}`), want: atX(
			`.x-platform-list-map-keys: Invalid value: ["k","k","l"]: must not contain duplicate entries`, `.x-platform-list-map-keys: Invalid value: ["k","k","l"]: entries must all be names of item properties`)},
		{obj: schemaOf(`{"type":"array","x-platform-list-type":"map","x-platform-list-map-keys":["k"],"items":{"type":"object","properties":{"k":{"type":"object","nullable":true}}}}`), want: atX(
			`.items.properties[k].type: Invalid value: "object": must be a scalar type if parent array's x-platform-list-type is map`,
			`.items.properties[k].default: Required value: this property is in x-platform-list-map-keys, so it must have a default or be a required property`,
			`.items.properties[k].nullable: Forbidden: this property is in x-platform-list-map-keys, so it cannot be nullable`)},
	})
}

func TestSchemaStructure(t *testing.T) {
	runValidationCases(t, definitions(t, meta.Platform), []validationCase{
		{obj: schemaOf(`{}`), want: atX(`.type: Required value: must not be empty for specified object fields`)},
		{obj: schemaOf(`{"type":"array"}`), want: atX(`.items: Required value: must be specified`)},
		{obj: schemaOf(`{"type":"array","items":{}}`), want: atX(`.items.type: Required value: must not be empty for specified array items`)},
		{obj: schemaOf(`{"type":"object","additionalProperties":{}}`), want: atX(`.additionalProperties.type: Required value: must not be empty for specified object fields`)},
		{obj: schemaOf(`{"x-platform-int-or-string":true,"anyOf":[{"type":"integer"},{"type":"string"}]}`)},
		{obj: schemaOf(`{"x-platform-int-or-string":true,"allOf":[{"anyOf":[{"type":"integer"},{"type":"string"}]},{"maximum":3}]}`)},
		{obj: schemaOf(`{"type":"string","anyOf":[{"type":"integer"},{"type":"string"}]}`), want: atX(`.anyOf[0].type: Forbidden: must be empty to be structural`, `.anyOf[1].type: Forbidden: must be empty to be structural`)},
		{obj: schemaOf(`{"x-platform-int-or-string":true,"x-platform-preserve-unknown-fields":true}`), want: atX(`.x-platform-preserve-unknown-fields: Invalid value: true: must be false if x-platform-int-or-string is true`)},
		{obj: schemaOf(`{"type":"object","not":{"description":"d","title":"t","nullable":true,"default":false,"additionalProperties":false,"x-platform-embedded-resource":true,"x-platform-validations":[{"rule":"true"}]}}`), want: atX(
			`.not.additionalProperties: Forbidden: must be undefined to be structural`, `.not.default: Forbidden: must be undefined to be structural`, `.not.title: Forbidden: must be empty to be structural`,
			`.not.description: Forbidden: must be empty to be structural`, `.not.nullable: Forbidden: must be false to be structural`,
			`.not.x-platform-embedded-resource: Forbidden: must be false to be structural`, `.not.x-platform-validations: Forbidden: must be empty to be structural`)},
		{obj: schemaOf(`{"type":"object","properties":{"a":{"type":"string"}},"oneOf":[{"properties":{"a":{"minLength":1},"b":{"minLength":1}}}]}`), want: atX(
			`.properties[b]: Required value: because it is defined in spec.validation.openAPIV3Schema.properties[x].oneOf[0].properties[b]`)},
		{obj: schemaOf(`{"type":"array","items":{"type":"object","properties":{}},"allOf":[{"items":{"properties":{"metadata":{}}}}]}`), want: atX(
			`.allOf[0].items.properties[metadata]: Forbidden: must not be specified in a nested context`,
			`.items.properties[metadata]: Required value: because it is defined in spec.validation.openAPIV3Schema.properties[x].allOf[0].items.properties[metadata]`)},
		{obj: schemaOf(`{"type":"object","x-platform-embedded-resource":true}`), want: atX(`.properties: Required value: must not be empty if x-platform-embedded-resource is true without x-platform-preserve-unknown-fields`)},
		{obj: schemaOf(`{"x-platform-embedded-resource":true,"x-platform-preserve-unknown-fields":true,"properties":{"kind":{"type":"integer"},"metadata":{"type":"object","x-platform-embedded-resource":true,"x-platform-preserve-unknown-fields":true}}}`), want: atX(
			`.properties[metadata].x-platform-embedded-resource: Forbidden: must not be used inside of resource meta`, `.type: Required value: must be object if x-platform-embedded-resource is true`,
			`.properties[kind].type: Invalid value: "integer": must be string`, `.properties[metadata]: Forbidden: must not specify anything other…`)},
	})
}
