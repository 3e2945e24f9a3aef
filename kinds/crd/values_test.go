package crd

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/tree"
)

// TestDefaulting applies the defaults of schemas of spec.
func TestDefaulting(t *testing.T) {
	for _, c := range []struct{ what, properties, spec, want string }{
		{"absent", `"a":{"type":"string","default":"x"}`, `{}`, `{"a":"x"}`},
		{"empty is a value", `"a":{"type":"string","default":"x"}`, `{"a":""}`, `{"a":""}`},
		{"null is none", `"a":{"type":"string","default":"x"}`, `{"a":null}`, `{"a":"x"}`},
		{"null is dropped", `"a":{"type":"string"}`, `{"a":null}`, `{}`},
		{"null is a value", `"a":{"type":"string","nullable":true,"default":"x"}`, `{"a":null}`, `{"a":null}`},
		{"inside of a default", `"a":{"type":"object","default":{},"properties":{"b":{"type":"integer","default":1}}}`, `{}`, `{"a":{"b":1}}`},
		{"nothing inside of nothing", `"a":{"type":"object","properties":{"b":{"type":"integer","default":1}}}`, `{}`, `{}`},
		{"elements", `"a":{"type":"array","items":{"type":"object","properties":{"b":{"type":"integer","default":1}}}}`, `{"a":[{},{"b":2}]}`, `{"a":[{"b":1},{"b":2}]}`},
		{"null elements", `"a":{"type":"array","items":{"type":"string","default":"x"}}`, `{"a":[null,"y"]}`, `{"a":["x","y"]}`},
		{"null elements that are values", `"a":{"type":"array","items":{"type":"string","nullable":true,"default":"x"}}`, `{"a":[null]}`, `{"a":[null]}`},
		{"entries", `"a":{"type":"object","additionalProperties":{"type":"object","properties":{"b":{"type":"integer","default":1}}}}`, `{"a":{"k":{},"l":null}}`, `{"a":{"k":{"b":1}}}`},
		{"metadata of embedded objects", `"a":{"type":"object","x-platform-embedded-resource":true,"properties":{"metadata":{"type":"object","default":{"name":"x"}}}}`, `{"a":{}}`, `{"a":{"metadata":{"name":"x"}}}`},
	} {
		n := compiled(t, `{"type":"object","properties":{"metadata":{"type":"object","properties":{"name":{"type":"string","default":"never"}}},"spec":{"type":"object","properties":{`+c.properties+`}}}}`)
		object := parseTree(t, `{"metadata":{},"spec":`+c.spec+`}`)
		rules.DefaultValue(n.rootValues(), object)
		if got, want := string(codec.AppendAny(nil, object)), `{"metadata":{},"spec":`+c.want+`}`; got != want {
			t.Errorf("%s: %s, want %s", c.what, got, want)
		}
	}
}

// TestDefaultsEnd checks that defaulting stops at about 8 MiB.
func TestDefaultsEnd(t *testing.T) {
	n := compiled(t, `{"type":"object","properties":{"l":{"type":"array","items":{"type":"object","properties":{"a":{"type":"string","default":"`+strings.Repeat("x", 1<<10)+`"}}}}}}`)
	list := make([]any, 20_000)
	for i := range list {
		list[i] = parseTree(t, `{}`)
	}
	rules.DefaultValue(n.rootValues(), tree.Tree{"l": list})
	filled := 0
	for _, item := range list {
		if string(codec.AppendAny(nil, item)) != "{}" {
			filled++
		}
	}
	if filled < 5_000 || filled > 10_000 {
		t.Errorf("%d KiB of defaults, want about 8 MiB", filled)
	}
}

func TestPruning(t *testing.T) {
	for _, c := range []struct{ what, schema, object, want, unknown string }{
		{"unknown", `"a":{"type":"string"}`, `{"kind":"K","apiVersion":"v","metadata":{"x":1},"a":"b","c":{"d":1}}`, `{"a":"b","apiVersion":"v","kind":"K","metadata":{"x":1}}`, "c"},
		{"below", `"a":{"type":"object","properties":{"b":{"type":"string"}}}`, `{"a":{"b":"x","c":1,"d":2}}`, `{"a":{"b":"x"}}`, "a.c a.d"},
		{"elements", `"a":{"type":"array","items":{"type":"object","properties":{"b":{"type":"string"}}}}`, `{"a":[{"b":"x"},{"c":1}]}`, `{"a":[{"b":"x"},{}]}`, "a[1].c"},
		{"entries", `"a":{"type":"object","additionalProperties":{"type":"object","properties":{"b":{"type":"string"}}}}`, `{"a":{"k":{"c":1}}}`, `{"a":{"k":{}}}`, "a.k.c"},
		{"preserved", `"a":{"type":"object","x-platform-preserve-unknown-fields":true,"properties":{"b":{"type":"object"}}}`, `{"a":{"c":{"d":1},"b":{"e":1}}}`, `{"a":{"b":{},"c":{"d":1}}}`, "a.b.e"},
		{"preserved in a list", `"a":{"type":"array","x-platform-preserve-unknown-fields":true,"items":{"type":"object"}}`, `{"a":[{"b":1}]}`, `{"a":[{"b":1}]}`, ""},
		{"preserved in elements", `"a":{"type":"array","items":{"type":"object","x-platform-preserve-unknown-fields":true}}`, `{"a":[{"b":1}]}`, `{"a":[{"b":1}]}`, ""},
		{"embedded", `"a":{"type":"object","x-platform-embedded-resource":true,"properties":{"spec":{"type":"object"}}}`, `{"a":{"kind":"K","apiVersion":"v","metadata":{"x":1},"spec":{},"y":1}}`,
			`{"a":{"apiVersion":"v","kind":"K","metadata":{"x":1},"spec":{}}}`, "a.y"},
	} {
		object := parseTree(t, c.object)
		before := string(codec.AppendAny(nil, object))
		pruned, unknown := rules.Prune(compiled(t, `{"type":"object","properties":{`+c.schema+`}}`).rootValues(), object)
		if got := string(codec.AppendAny(nil, pruned)); got != c.want || strings.Join(unknown, " ") != c.unknown {
			t.Errorf("%s: %s without %q, want %s without %q", c.what, got, unknown, c.want, c.unknown)
		}
		if after := string(codec.AppendAny(nil, object)); after != before {
			t.Errorf("%s: the object was changed to %s", c.what, after)
		}
	}
}

// TestValidation validates the field a of objects. An error is "path: message", without the field's
// own path.
func TestValidation(t *testing.T) {
	for _, c := range []struct{ schema, value, want string }{
		{`"type":"string"`, `1`, `Invalid value: "integer": a in body must be of type string: "integer"`},
		{`"type":"string"`, `null`, `Invalid value: "null": a in body must be of type string: "null"`},
		{`"type":"string","nullable":true`, `null`, ``},
		{`"type":"string","nullable":true,"enum":["x"],"minLength":3`, `null`, `Unsupported value: null: supported values: "x"`},
		{`"type":"string","nullable":true,"enum":["x",null]`, `null`, ``},
		{`"type":"string","nullable":true,"enum":["x"]`, `"y"`, `Unsupported value: "y": supported values: "x"`},
		{`"type":"integer"`, `1.5`, `Invalid value: "number": a in body must be of type integer: "number"`},
		{`"type":"integer"`, `2.0`, ``},
		{`"type":"integer"`, `9223372036854775807`, ``},
		{`"type":"integer"`, `9223372036854775808`, `Invalid value: "number": a in body must be of type integer: "number"`},
		{`"type":"integer"`, `-1e20`, `Invalid value: "number": a in body must be of type integer: "number"`},
		{`"x-platform-int-or-string":true`, `1e20`, `Invalid value: "number": a in body must be of type integer,string: "number"`},
		{`"type":"number"`, `1`, ``},
		{`"x-platform-int-or-string":true`, `"x"`, ``},
		{`"x-platform-int-or-string":true`, `true`, `Invalid value: "boolean": a in body must be of type integer,string: "boolean"`},
		{`"type":"integer","enum":[1,2]`, `3`, `Unsupported value: 3: supported values: "1", "2"`},
		{`"type":"number","enum":[1]`, `1.0`, ``},
		{`"type":"string","maxLength":2,"pattern":"^a"`, `"bbb"`, `Too long: may not be more than 2 bytes`},
		{`"type":"string","maxLength":3`, `"äöü"`, ``},
		{`"type":"string","minLength":2`, `"ä"`, `Invalid value: "ä": a in body should be at least 2 chars long`},
		{`"type":"string","pattern":"^a"`, `"b"`, `Invalid value: "b": a in body should match '^a'`},
		{`"type":"string","format":"ipv4"`, `"x"`, `Invalid value: "x": a in body must be of type ipv4: "x"`},
		{`"type":"integer","minimum":2,"maximum":3`, `1`, `Invalid value: 1: a in body should be greater than or equal to 2`},
		{`"type":"integer","minimum":2,"exclusiveMinimum":true`, `2`, `Invalid value: 2: a in body should be greater than 2`},
		{`"type":"integer","maximum":3`, `4`, `Invalid value: 4: a in body should be less than or equal to 3`},
		{`"type":"number","maximum":3,"exclusiveMaximum":true`, `3`, `Invalid value: 3: a in body should be less than 3`},
		{`"type":"number","multipleOf":0.5`, `0.7`, `Invalid value: 0.7: a in body should be a multiple of 0.5`},
		{`"type":"number","format":"float"`, `1e39`, `Invalid value: 1e+39: a in body must be of type float: "1e+39"`},
		{`"type":"number","format":"float"`, `-3.4e38`, ``},
		{`"type":"number","format":"double"`, `1e39`, ``},
		{`"type":"integer","format":"int32"`, `2147483648`, `Invalid value: 2147483648: a in body must be of type int32: "2147483648"`},
		{`"type":"array","maxItems":1,"items":{"type":"string"}`, `["x","y"]`, `Too many: 2: must have at most 1 item`},
		{`"type":"array","minItems":1,"items":{"type":"string"}`, `[]`, `Invalid value: []: a in body should have at least 1 items`},
		{`"type":"array","items":{"type":"string"}`, `["x",1]`, `a[1]: Invalid value: "integer": a[1] in body must be of type string: "integer"`},
		{`"type":"object","maxProperties":1,"additionalProperties":{"type":"integer"}`, `{"x":1,"y":"z"}`,
			"Too many: 2: must have at most 1 item\na.y: Invalid value: \"string\": a.y in body must be of type integer: \"string\""},
		{`"type":"object","minProperties":1`, `{}`, `Invalid value: {}: a in body should have at least 1 properties`},
		{`"type":"object","required":["z","b"],"properties":{"b":{"type":"string"},"c":{"type":"string"}}`, `{"c":1}`,
			"a.z: Required value\na.b: Required value\na.c: Invalid value: \"integer\": a.c in body must be of type string: \"integer\""},
		{`"type":"object","x-platform-embedded-resource":true,"properties":{"metadata":{"type":"object","properties":{"name":{"type":"string","pattern":"^a"},"labels":{"type":"string"}}}}`,
			`{"kind":"K","apiVersion":"v","metadata":{"name":"b","labels":{}}}`, `a.metadata.name: Invalid value: "b": a.metadata.name in body should match '^a'`},
		{`"type":"integer","allOf":[{"minimum":2},{"minimum":3}]`, `1`, "Invalid value: 1: a in body should be greater than or equal to 2\nInvalid value: 1: a in body should be greater than or equal to 3"},
		{`"type":"integer","anyOf":[{"minimum":5},{"maximum":1}]`, `3`, `Invalid value: "": "a" must validate at least one schema (anyOf)`},
		{`"type":"integer","anyOf":[{"minimum":5},{"maximum":1}]`, `0`, ``},
		{`"type":"integer","oneOf":[{"minimum":1},{"minimum":2}]`, `3`, `Invalid value: "": "a" must validate one and only one schema (oneOf). Found 2 valid alternatives`},
		{`"type":"integer","oneOf":[{"minimum":1}]`, `0`, `Invalid value: "": "a" must validate one and only one schema (oneOf). Found none valid`},
		{`"type":"integer","not":{"minimum":1}`, `1`, `Invalid value: "": "a" must not validate the schema (not)`},
		{`"type":"array","x-platform-list-type":"set","items":{"type":"string"}`, `["x","y","x","x"]`, `a[2]: Duplicate value: "x"`},
		{`"type":"array","items":{"type":"string"}`, `["x","x"]`, ``},
		{listMap, `[{"k":"a"},{"k":"b"},{"k":"a","p":1}]`, `a[2]: Duplicate value: {"k":"a","p":1}`},
		{listMap, `[{"k":"a"},{"k":"a","p":2}]`, ``},
	} {
		n := compiled(t, `{"type":"object","properties":{"a":{`+c.schema+`}}}`)
		got := validate(n, parseTree(t, `{"metadata":{},"a":`+c.value+`}`), nil)
		lines := strings.Split(got, "\n")
		for i := range lines {
			lines[i] = strings.TrimPrefix(lines[i], "a: ")
		}
		if got = strings.Join(lines, "\n"); got != c.want {
			t.Errorf("%s of {%s}:\n got  %s\n want %s", c.value, c.schema, got, c.want)
		}
	}
}

// listMap is a list with the keys k and p, of which p has a default.
const listMap = `"type":"array","x-platform-list-type":"map","x-platform-list-map-keys":["k","p"],
	"items":{"type":"object","properties":{"k":{"type":"string"},"p":{"type":"integer","default":1},"v":{"type":"integer","maximum":9}}}`

// TestUnchangedParts checks that unchanged parts are not validated again.
func TestUnchangedParts(t *testing.T) {
	n := compiled(t, `{"type":"object","required":["must"],"properties":{"n":{"type":"integer","maximum":9},"o":{"type":"object","properties":{"n":{"type":"integer","maximum":9},"m":{"type":"integer"}}},
		"l":{"type":"array","items":{"type":"integer","maximum":9}},"m":{`+listMap+`},
		"metadata":{"type":"object","properties":{"name":{"type":"string","maxLength":1}}}}}`)
	const bad = `{"must":1,"n":10,"o":{"n":10},"l":[10],"m":[{"k":"a","v":10}]}`
	for _, c := range []struct{ now, old, want string }{
		{bad, bad, ""},
		{`{"must":1,"n":11}`, bad, "n: Invalid value: 11: n in body should be less than or equal to 9"},
		{`{"must":1,"o":{"n":10,"m":1}}`, bad, ""},
		{`{"must":1,"l":[10,1]}`, bad, "l[0]: Invalid value: 10: l[0] in body should be less than or equal to 9"},
		{`{"must":1,"m":[{"k":"b","v":1},{"k":"a","p":1,"v":11}]}`, bad, "m[1].v: Invalid value: 11: m[1].v in body should be less than or equal to 9"},
		{`{"must":1,"m":[{"k":"b","v":1},{"k":"a","v":10}]}`, bad, ""},
		{`{"n":10}`, bad, "must: Required value"},
		{`{"must":1,"metadata":{"name":"ab"}}`, `{"must":1,"metadata":{"name":"ab"}}`, "metadata.name: Too long: may not be more than 1 bytes"},
	} {
		if got := validate(n, parseTree(t, c.now), parseTree(t, c.old)); got != c.want {
			t.Errorf("%s:\n got  %s\n want %s", c.now, got, c.want)
		}
	}
}
