package rules_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/internal/golden"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

func parseTree(t testing.TB, text string) tree.Tree {
	t.Helper()
	v, _, err := codec.DecodeAny([]byte(text))
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v.(tree.Tree)
}

// expect compares causes, formatted as "path: message", with want. A final … in want marks a
// prefix.
func expect(t *testing.T, name string, causes []meta.Cause, want []string) {
	t.Helper()
	got := make([]string, len(causes))
	for i, c := range causes {
		got[i] = c.Field + ": " + c.Message
	}
	same := slices.EqualFunc(got, want, func(g, w string) bool {
		if begin, ok := strings.CutSuffix(w, "…"); ok {
			return strings.HasPrefix(g, begin)
		}
		return g == w
	})
	if !same {
		t.Errorf("%s:\n got  %s\n want %s", name, strings.Join(got, "\n      "), strings.Join(want, "\n      "))
	}
}

func ptr(n int64) *int64 { return &n }

func sample(t *testing.T) *schema.Kind {
	t.Helper()
	item := &schema.Message{Name: "t.Item", Fields: []*schema.Field{
		{Name: "name", Required: true},
		{Name: "port", Type: schema.TypeInt32, Min: ptr(1), Max: ptr(9)},
		{Name: "mode", Default: "rw"},
	}}
	spec := &schema.Message{Name: "t.Spec", Fields: []*schema.Field{
		{Name: "size", Type: schema.TypeInt64, Min: ptr(0)},
		{Name: "count", Type: schema.TypeInt64, Min: ptr(1)},
		{Name: "must", Type: schema.TypeInt64, Min: ptr(1), Required: true},
		{Name: "top", Type: schema.TypeInt64, Max: ptr(5)},
		{Name: "kind", Enum: []string{"A", "B"}, Default: "A"},
		{Name: "level", Pointer: true, Enum: []string{"", "X"}},
		{Name: "text", MinLength: 2, MaxLength: 4, Pattern: "^a"},
		{Name: "host", Format: "dns1123Label", Immutable: true},
		{Name: "sets", Shape: schema.List, ListType: schema.ListSet, MaxItems: 3},
		{Name: "modes", Shape: schema.List, Enum: []string{"r", "w"}},
		{Name: "items", Shape: schema.List, ListType: schema.ListMap, ListMapKeys: []string{"name"}, Type: schema.TypeMessage, Message: item},
		{Name: "pairs", Shape: schema.List, ListType: schema.ListMap, ListMapKeys: []string{"name", "port"}, Type: schema.TypeMessage, Message: item},
		{Name: "byKey", Shape: schema.Map, Type: schema.TypeMessage, Message: item, MaxItems: 2},
		{Name: "inner", Type: schema.TypeMessage, Message: item, Default: tree.Tree{"name": "d"}},
	}}
	item.Index()
	spec.Index()
	k := &schema.Kind{Strategy: schema.DefaultStrategy{}, Declared: schema.DeclarationOf(schema.NewMessage("t.T", &schema.Field{Name: "spec", Type: schema.TypeMessage, Message: spec, Required: true}))}
	if err := rules.Compile(nil, k.Message()); err != nil {
		t.Fatal(err)
	}
	return k
}

func withRequired(spec tree.Tree) tree.Tree {
	if _, ok := spec["must"]; !ok {
		spec["must"] = int64(1)
	}
	return spec
}

func TestPlanRules(t *testing.T) {
	k := sample(t)
	golden.Run(t, "testdata/plan.txt", func(given []string) string {
		spec := withRequired(parseTree(t, given[0]))
		var lines []string
		for _, c := range rules.Validate(k, tree.Tree{"metadata": parseTree(t, `{"name":"x"}`), "spec": spec}) {
			lines = append(lines, c.Field+": "+c.Message)
		}
		return cmp.Or(strings.Join(lines, "\n"), "valid")
	})
	expect(t, "no spec", rules.Validate(k, parseTree(t, `{"metadata":{"name":"x"}}`)), []string{`spec: Required value`})
	k.Strategy = validating{validate: func(f *schema.Faults) {
		f.Invalid("spec.size", int64(-1), "closer words")
		f.Forbidden("spec.size", "another type")
	}}
	expect(t, "own words", rules.Validate(k, parseTree(t, `{"metadata":{"name":"x"},"spec":{"must":1,"size":-1,"top":6}}`)), []string{
		`spec.size: Invalid value: -1: closer words`, `spec.size: Forbidden: another type`, `spec.top: Invalid value: 6: must be less than or equal to 5`})
}

func TestImmutable(t *testing.T) {
	k := sample(t)
	old := parseTree(t, `{"metadata":{"name":"x"},"spec":{"host":"a"}}`)
	expect(t, "changed", rules.ValidateUpdate(k, parseTree(t, `{"metadata":{"name":"x"},"spec":{"host":"b"}}`), old), []string{`spec.host: Invalid value: "b": field is immutable`})
	expect(t, "removed", rules.ValidateUpdate(k, parseTree(t, `{"metadata":{"name":"x"},"spec":{}}`), old), []string{`spec.host: Invalid value: null: field is immutable`})
	expect(t, "kept", rules.ValidateUpdate(k, parseTree(t, `{"metadata":{"name":"x"},"spec":{"host":"a","size":1}}`), old), nil)
}

type validating struct {
	schema.DefaultStrategy
	validate func(f *schema.Faults)
}

func (s validating) Validate(_, _ tree.Tree, f *schema.Faults) { s.validate(f) }

type markingSeen struct{ schema.DefaultStrategy }

func (markingSeen) Default(obj tree.Tree) { obj["seen"] = obj.Object("spec").String("kind") }

func TestDefault(t *testing.T) {
	k := sample(t)
	k.Strategy = markingSeen{}
	obj := parseTree(t, `{"spec":{"kind":"","items":[{"name":"a"},{"name":"b","mode":"r"}],"byKey":{"k":{}}}}`)
	rules.Default(k, obj)
	want := parseTree(t, `{"seen":"A","spec":{"kind":"A","items":[{"name":"a","mode":"rw"},{"name":"b","mode":"r"}],"byKey":{"k":{"mode":"rw"}},"inner":{"name":"d","mode":"rw"}}}`)
	if !tree.SemanticEqual(obj, want) {
		t.Errorf("got %v", obj)
	}
	again := tree.Tree{"spec": tree.Tree{}}
	obj.Object("spec", "inner")["name"] = "changed"
	rules.Default(k, again)
	if got := again.Object("spec", "inner").String("name"); got != "d" {
		t.Errorf("a default is shared between objects: %s", got)
	}
}

func TestSemanticEqual(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{`{"v":{}}`, `{}`, true}, {`{"v":{"a":{}}}`, `{}`, true}, {`{"v":[]}`, `{"v":null}`, true}, {`{"v":0}`, `{}`, true},
		{`{"v":[1]}`, `{"v":[1,2]}`, false}, {`{"v":{"a":1}}`, `{"v":"a"}`, false}, {`{"v":"a"}`, `{"v":{"a":1}}`, false},
		{`{"v":[1,{"a":""}]}`, `{"v":[1,{}]}`, true}, {`{}`, `{"v":{"a":[{}]}}`, false}, {`{"v":1}`, `{"v":true}`, false},
	} {
		if got := tree.SemanticEqual(parseTree(t, c.a), parseTree(t, c.b)); got != c.want {
			t.Errorf("Equal(%s, %s) = %t", c.a, c.b, got)
		}
	}
}
