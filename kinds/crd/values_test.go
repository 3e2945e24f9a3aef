package crd

import (
	"cmp"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/internal/golden"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/tree"
)

func TestDefaulting(t *testing.T) {
	golden.Run(t, "testdata/defaulting.txt", func(given []string) string {
		n := compiled(t, `{"type":"object","properties":{"metadata":{"type":"object","properties":{"name":{"type":"string","default":"never"}}},"spec":{"type":"object","properties":`+given[1]+`}}}`)
		object := parseTree(t, `{"metadata":{},"spec":`+given[2]+`}`)
		rules.DefaultValue(n.rootValues(), object)
		if len(object.Object("metadata")) > 0 {
			t.Errorf("%s: metadata has defaults", given[0])
		}
		return string(codec.AppendAny(nil, object["spec"]))
	})
}

// TestDefaultsEnd checks that defaulting stops after adding about 8 MiB.
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
	golden.Run(t, "testdata/pruning.txt", func(given []string) string {
		object := parseTree(t, given[2])
		before := string(codec.AppendAny(nil, object))
		pruned, unknown := rules.Prune(compiled(t, `{"type":"object","properties":`+given[1]+`}`).rootValues(), object)
		if after := string(codec.AppendAny(nil, object)); after != before {
			t.Errorf("%s: the object was changed to %s", given[0], after)
		}
		return string(codec.AppendAny(nil, pruned)) + "\nunknown: " + strings.Join(unknown, " ")
	})
}

func TestValidation(t *testing.T) {
	golden.Run(t, "testdata/validation.txt", func(given []string) string {
		got := validate(compiled(t, `{"type":"object","properties":{"a":`+given[0]+`}}`), parseTree(t, `{"metadata":{},"a":`+given[1]+`}`), nil)
		return cmp.Or(got, "valid")
	})
}

const listMap = `"type":"array","x-platform-list-type":"map","x-platform-list-map-keys":["k","p"],
	"items":{"type":"object","properties":{"k":{"type":"string"},"p":{"type":"integer","default":1},"v":{"type":"integer","maximum":9}}}`

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
