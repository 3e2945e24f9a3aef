package api_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
)

func TestSchemaKeywords(t *testing.T) {
	RunValidationCases(t, definitionKind(t, meta.Kubernetes), []ValidationCase{
		{Obj: schemaOf(`{"type":"string","maxLength":3,"default":"a"}`)},
		{Obj: schemaOf(`{"type":"object","x-kubernetes-preserve-unknown-fields":true}`)},
		{Obj: schemaOf(`{"type":"object","x-kubernetes-preserve-unknown-fields":false}`), Want: atX(`.x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true or undefined`)},
		{Obj: schemaOf(`{"type":"null"}`), Want: atX(`.type: Forbidden: type cannot be set to null, use nullable as an alternative`, `.type: Unsupported value: "null": supported values: "array", "boolean"…`)},
		{Obj: schemaOf(`{"type":"file"}`), Want: atX(`.type: Unsupported value: "file": supported values: "array", "boolean", "integer", "number", "object", "string"`)},
		{Obj: schemaOf(`{"type":"string","id":"a","$ref":"#/b"}`), Want: atX(`.id: Forbidden: id is not supported`, `.$ref: Forbidden: $ref is not supported`)},
		{Obj: schemaOf(`{"type":"object","patternProperties":{"a":{"type":"string"}},"definitions":{"a":{"type":"string"}},"dependencies":{"a":["b"]}}`), Want: atX(
			`.patternProperties: Forbidden: patternProperties is not supported`, `.definitions: Forbidden: definitions is not supported`, `.dependencies: Forbidden: dependencies is not supported`)},
		{Obj: schemaOf(`{"type":"array","items":[{"type":"string"}],"additionalItems":true}`), Want: atX(`.additionalItems: Forbidden: additionalItems is not supported`, `.items: Forbidden: items must be a schema object and not an array`)},
		{Obj: schemaOf(`{"type":"array","uniqueItems":true,"items":{"type":"string"}}`), Want: atX(`.uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic`)},
		{Obj: schemaOf(`{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":{"type":"string"}}`), Want: atX(`.additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive`)},
		{Obj: schemaOf(`{"type":"string","x-kubernetes-map-type":"odd"}`), Want: atX(`.type: Invalid value: "string": must be object if x-kubernetes-map-type is specified`, `.x-kubernetes-map-type: Unsupported value: "odd": supported values: "atomic", "granular"`)},
		{Obj: schemaOf(`{"type":"object","x-kubernetes-validations":[{"rule":" "},{"rule":"a\nb"},{"rule":"a","message":" ","messageExpression":" ","reason":"Bored"},{"rule":"b","message":"a\nb"}]}`), Want: atX(
			`.x-kubernetes-validations[0].rule: Required value: rule is not specified`, `.x-kubernetes-validations[1].message: Required value: message must be specified if rule contains line breaks`,
			`.x-kubernetes-validations[2].message: Invalid value: " ": must be non-empty if specified`, `.x-kubernetes-validations[2].messageExpression: Required value: messageExpression must be non-empty if specified`,
			`.x-kubernetes-validations[2].reason: Unsupported value: "Bored": supported values: "FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"`,
			`.x-kubernetes-validations[3].message: Invalid value: "a\nb": must not contain line breaks`)},
	})
}

// TestSchemaFaultOrder: structural faults come first, sorted by text, then faults of keywords in
// schema order.
func TestSchemaFaultOrder(t *testing.T) {
	k := definitionKind(t, meta.Kubernetes)
	for schema, want := range map[string][]string{
		`{"type":"string","x-kubernetes-embedded-resource":true}`: atX(`.properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields`,
			`.type: Invalid value: "string": must be object if x-kubernetes-embedded-resource is true`),
		`{"properties":{"a":{"type":"array"},"b":{"type":"foo"}},"x-kubernetes-map-type":"x"}`: atX(`.properties[a].items: Required value: must be specified`,
			`.type: Required value: must not be empty for specified object fields`,
			`.properties[b].type: Unsupported value: "foo": supported values: "array", "boolean", "integer", "number", "object", "string"`,
			`.type: Required value: must be object if x-kubernetes-map-type is specified`, `.x-kubernetes-map-type: Unsupported value: "x": supported values: "atomic", "granular"`),
		`{"properties":{"a":{"$ref":"#/x"}}}`: atX(`.properties[a].$ref: Forbidden: $ref is not supported`),
	} {
		if got := Create(k, Named(k, Parse(t, schemaOf(schema)))); !slices.Equal(got, want) {
			t.Errorf("%s:\n%s\nwant\n%s", schema, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

func TestSchemaRoot(t *testing.T) {
	const at = "spec.validation.openAPIV3Schema"
	RunValidationCases(t, definitionKind(t, meta.Platform), []ValidationCase{
		{Obj: rootSchema(`{"type":"object","nullable":true}`, `"served":true`), Want: []string{at + `.nullable: Forbidden: nullable cannot be true at the root`}},
		{Obj: rootSchema(`{"type":"string"}`, `"served":true`), Want: []string{at + `.type: Invalid value: "string": must be object at the root`}},
		{Obj: rootSchema(`{"properties":{"a":{"type":"string"}}}`, `"served":true`), Want: []string{at + `.type: Required value: must not be empty at the root`}},
		{Obj: rootSchema(`{"x-platform-preserve-unknown-fields":true}`, `"served":true`)},
		{Obj: rootSchema(`{"type":"object","allOf":[{"required":["a"]}]}`, `"subresources":{"status":{}}`), Want: []string{at + `: Invalid value: {"allOf":[{"required":["a"]}],"type":"object"}: only […`}},
		{Obj: rootSchema(`{"type":"object","required":["a"],"x-platform-validations":[{"rule":"true"}]}`, `"subresources":{"status":{}}`)},
		{Obj: rootSchema(`{"type":"object","properties":{"metadata":{"type":"object","properties":{"name":{"type":"string"},"generateName":{"type":"string"}}},"kind":{"type":"string"}}}`, `"served":true`)},
		{Obj: rootSchema(`{"type":"object","properties":{"metadata":{"type":"object","properties":{"labels":{"type":"object"}}},"kind":{"type":"integer"},"apiVersion":{"type":"string","default":"v1"}}}`, `"served":true`), Want: []string{
			at + `.properties[apiVersion].default: Forbidden: must not be set in top-level apiVersion`, at + `.properties[kind].type: Invalid value: "integer": must be string`,
			at + `.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified`}},
		{Obj: rootSchema(`{"type":"object","properties":{"metadata":{"type":"object","description":"d"}}}`, `"served":true`), Want: []string{
			at + `.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified`}},
		{Obj: rootSchema(`{"type":"object","properties":{"metadata":{"type":"object","title":"t"}}}`, `"served":true`), Want: []string{at + `.properties[metadata]: Forbidden: must not…`}},
		{Obj: rootSchema(`{"type":"object","properties":{"metadata":{"type":"object","properties":{"name":{"type":"string","description":"d"}}}}}`, `"served":true`)},
		{Obj: rootSchema(`{"type":"object","properties":{"metadata":{"type":"array","items":{"type":"string"}}}}`, `"served":true`), Want: []string{
			at + `.properties[metadata].type: Invalid value: "array": must be object`, at + `.properties[metadata]: Forbidden: must not specify anything other…`}},
	})
}

func TestSchemaLists(t *testing.T) {
	const key = `"required":["k"],"properties":{"k":{"type":"string"}}`
	RunValidationCases(t, definitionKind(t, meta.Platform), []ValidationCase{
		{Obj: schemaOf(`{"type":"array","x-platform-list-type":"map","x-platform-list-map-keys":["k"],"items":{"type":"object",` + key + `}}`)},
		{Obj: schemaOf(`{"type":"array","x-platform-list-type":"heap","items":{"type":"string"}}`), Want: atX(`.x-platform-list-type: Unsupported value: "heap": supported values: "atomic", "set", "map"`)},
		{Obj: schemaOf(`{"type":"object","x-platform-list-type":"atomic"}`), Want: atX(`.type: Invalid value: "object": must be array if x-platform-list-type is specified`)},
		{Obj: schemaOf(`{"type":"array","x-platform-list-type":"set","items":{"type":"object"}}`), Want: atX(`.items.x-platform-map-type: Invalid value: null: must be atomic as item of a list with x-platform-list-type=set`)},
		{Obj: schemaOf(`{"type":"array","x-platform-list-type":"set","items":{"type":"array","x-platform-list-type":"set","items":{"type":"string","nullable":true}}}`), Want: atX(
			`.items.items.nullable: Forbidden: cannot be nullable when x-platform-list-type is set`, `.items.x-platform-list-type: Invalid value: "set": must be atomic as item of a list with x-platform-list-type=set`)},
		{Obj: schemaOf(`{"type":"array","x-platform-list-map-keys":["k"],"items":{"type":"object"}}`), Want: atX(`.x-platform-list-type: Required value: must be map if x-platform-list-map-keys is non-empty`)},
		{Obj: schemaOf(`{"type":"array","x-platform-list-type":"set","x-platform-list-map-keys":["k"],"items":{"type":"string"}}`), Want: atX(`.x-platform-list-type: Invalid value: "set": must be map if x-platform-list-map-keys is non-empty`)},
		{Obj: schemaOf(`{"type":"array","x-platform-list-type":"map"}`), Want: atX(`.x-platform-list-map-keys: Required value: must not be empty if x-platform-list-type is map`,
			`.items: Required value: must have a schema if x-platform-list-type is map`, `.items: Required value: must be specified`)},
		{Obj: schemaOf(`{"type":"array","x-platform-list-type":"map","x-platform-list-map-keys":["k"],"items":{"type":"string"}}`), Want: atX(`.items.type: Invalid value: "string": must be object if parent array's x-platform-list-type is map`)},
		{Obj: schemaOf(`{"type":"array","x-platform-list-type":"map","x-platform-list-map-keys":["k","k","l"],"items":{"type":"object",` + key + `}}`), Want: atX(
			`.x-platform-list-map-keys: Invalid value: ["k","k","l"]: must not contain duplicate entries`, `.x-platform-list-map-keys: Invalid value: ["k","k","l"]: entries must all be names of item properties`)},
		{Obj: schemaOf(`{"type":"array","x-platform-list-type":"map","x-platform-list-map-keys":["k"],"items":{"type":"object","properties":{"k":{"type":"object","nullable":true}}}}`), Want: atX(
			`.items.properties[k].type: Invalid value: "object": must be a scalar type if parent array's x-platform-list-type is map`,
			`.items.properties[k].default: Required value: this property is in x-platform-list-map-keys, so it must have a default or be a required property`,
			`.items.properties[k].nullable: Forbidden: this property is in x-platform-list-map-keys, so it cannot be nullable`)},
	})
}

func TestSchemaStructure(t *testing.T) {
	RunValidationCases(t, definitionKind(t, meta.Platform), []ValidationCase{
		{Obj: schemaOf(`{}`), Want: atX(`.type: Required value: must not be empty for specified object fields`)},
		{Obj: schemaOf(`{"type":"array"}`), Want: atX(`.items: Required value: must be specified`)},
		{Obj: schemaOf(`{"type":"array","items":{}}`), Want: atX(`.items.type: Required value: must not be empty for specified array items`)},
		{Obj: schemaOf(`{"type":"object","additionalProperties":{}}`), Want: atX(`.additionalProperties.type: Required value: must not be empty for specified object fields`)},
		{Obj: schemaOf(`{"x-platform-int-or-string":true,"anyOf":[{"type":"integer"},{"type":"string"}]}`)},
		{Obj: schemaOf(`{"x-platform-int-or-string":true,"allOf":[{"anyOf":[{"type":"integer"},{"type":"string"}]},{"maximum":3}]}`)},
		{Obj: schemaOf(`{"type":"string","anyOf":[{"type":"integer"},{"type":"string"}]}`)},
		{Obj: schemaOf(`{"type":"string","anyOf":[{"type":"string"},{"type":"integer"}]}`), Want: atX(`.anyOf[0].type: Forbidden: must be empty to be structural`, `.anyOf[1].type: Forbidden: must be empty to be structural`)},
		{Obj: schemaOf(`{"x-platform-int-or-string":true,"x-platform-preserve-unknown-fields":true}`), Want: atX(`.x-platform-preserve-unknown-fields: Invalid value: true: must be false if x-platform-int-or-string is true`)},
		{Obj: schemaOf(`{"type":"object","not":{"description":"d","title":"t","nullable":true,"default":false,"additionalProperties":false,"x-platform-embedded-resource":true,"x-platform-validations":[{"rule":"true"}]}}`), Want: atX(
			`.not.additionalProperties: Forbidden: must be undefined to be structural`, `.not.default: Forbidden: must be undefined to be structural`, `.not.title: Forbidden: must be empty to be structural`,
			`.not.description: Forbidden: must be empty to be structural`, `.not.nullable: Forbidden: must be false to be structural`,
			`.not.x-platform-embedded-resource: Forbidden: must be false to be structural`, `.not.x-platform-validations: Forbidden: must be empty to be structural`)},
		{Obj: schemaOf(`{"type":"object","properties":{"a":{"type":"string"}},"oneOf":[{"properties":{"a":{"minLength":1},"b":{"minLength":1}}}]}`)},
		{Obj: schemaOf(`{"type":"array","items":{"type":"object","properties":{}},"allOf":[{"items":{"properties":{"metadata":{}}}}]}`), Want: atX(
			`.allOf[0].items.properties[metadata]: Forbidden: must not be specified in a nested context`)},
		{Obj: schemaOf(`{"type":"object","x-platform-embedded-resource":true}`), Want: atX(`.properties: Required value: must not be empty if x-platform-embedded-resource is true without x-platform-preserve-unknown-fields`)},
		{Obj: schemaOf(`{"x-platform-embedded-resource":true,"x-platform-preserve-unknown-fields":true,"properties":{"kind":{"type":"integer"},"metadata":{"type":"object","x-platform-embedded-resource":true,"x-platform-preserve-unknown-fields":true}}}`), Want: atX(
			`.properties[metadata].x-platform-embedded-resource: Forbidden: must not be used inside of resource meta`, `.type: Required value: must be object if x-platform-embedded-resource is true`,
			`.properties[kind].type: Invalid value: "integer": must be string`)},
	})
}
