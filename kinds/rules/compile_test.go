package rules_test

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

func TestCompileFaults(t *testing.T) {
	for want, f := range map[string]*schema.Field{
		"t.T.f: error parsing regexp":       {Name: "f", Pattern: "("},
		`t.T.f: unknown format "roman"`:     {Name: "f", Format: "roman"},
		`t.T.f: unknown format "roman" ...`: {Name: "f", Shape: schema.Map, KeyFormat: "roman"},
	} {
		err := rules.Compile(nil, schema.NewMessage("t.T", f))
		if err == nil || !strings.Contains(err.Error(), strings.TrimSuffix(want, " ...")) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestRecursiveMessage(t *testing.T) {
	node := &schema.Message{Name: "t.Node"}
	node.Fields = []*schema.Field{
		{Name: "left", Type: schema.TypeMessage, Message: node, Pointer: true},
		{Name: "all", Type: schema.TypeMessage, Message: node, Shape: schema.List},
		{Name: "n", Type: schema.TypeInt64, Max: ptr(9), Immutable: true, Pointer: true},
		{Name: "mode", Default: "rw"},
	}
	node.Index()
	k := &schema.Kind{Strategy: schema.DefaultStrategy{}, Declared: schema.DeclarationOf(schema.NewMessage("t.Tree", &schema.Field{Name: "root", Type: schema.TypeMessage, Message: node}))}
	if err := rules.Compile(nil, k.Message()); err != nil {
		t.Fatal(err)
	}
	obj := parseTree(t, `{"metadata":{"name":"x"},"root":{"left":{"all":[{"left":{"n":10}}]}}}`)
	rules.Default(k, obj)
	if got := obj.Object("root", "left").Objects("all")[0].Object("left").String("mode"); got != "rw" {
		t.Errorf("the default below is %q", got)
	}
	expect(t, "bound", rules.Validate(k, obj), []string{`root.left.all[0].left.n: Invalid value: 10: must be less than or equal to 9`})
	was := parseTree(t, `{"metadata":{"name":"x"},"root":{"left":{"left":{"n":1}}}}`)
	now := parseTree(t, `{"metadata":{"name":"x"},"root":{"left":{"left":{"n":2}}}}`)
	expect(t, "immutable", rules.ValidateUpdate(k, now, was), []string{`root.left.left.n: Invalid value: 2: field is immutable`})
}

func TestOptionsBetweenFields(t *testing.T) {
	part := schema.NewMessage("t.Part", &schema.Field{Name: "x"})
	spec := schema.NewMessage("t.Spec",
		&schema.Field{Name: "mode"},
		&schema.Field{Name: "key", RequiredWhen: &schema.RequiredWhen{Field: "mode", Values: []string{"A", "B"}, Detail: "of modes"}},
		&schema.Field{Name: "list", Shape: schema.List, RequiredWhen: &schema.RequiredWhen{Field: "key"}},
		&schema.Field{Name: "a", Type: schema.TypeMessage, Message: part},
		&schema.Field{Name: "b", Type: schema.TypeMessage, Message: part},
		&schema.Field{Name: "c", Shape: schema.List},
		&schema.Field{Name: "names", Shape: schema.Map, KeyFormat: "dns1123Label", ReservedDomains: []string{"k8s.io"}, MaxLength: 2},
		&schema.Field{Name: "free", Shape: schema.List, ListType: schema.ListSet, MayRepeat: true},
	)
	spec.OneOf = []schema.OneOf{{Fields: []string{"a", "b", "c"}, None: "one is needed", Many: "one is enough"}}
	k := &schema.Kind{Strategy: schema.DefaultStrategy{}, Declared: schema.DeclarationOf(schema.NewMessage("t.T", &schema.Field{Name: "spec", Type: schema.TypeMessage, Message: spec, Required: true, RequiredDetail: "always"}))}
	if err := rules.Compile(nil, k.Message()); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		spec string
		want []string
	}{
		{`{"a":{}}`, nil},
		{`{"a":{},"c":[],"mode":"C"}`, nil},
		{`{"c":[]}`, []string{`spec: Required value: one is needed`}},
		{`{"a":{},"b":{},"c":["x"]}`, []string{`spec.b: Forbidden: one is enough`, `spec.c: Forbidden: one is enough`}},
		{`{"a":{},"mode":"B"}`, []string{`spec.key: Required value: of modes`}},
		{`{"a":{},"mode":"B","key":"k"}`, []string{`spec.list: Required value`}},
		{`{"a":{},"mode":"B","key":"k","list":["x"]}`, nil},
		{`{"a":{},"names":{"A":"x","b":"xyz"}}`, []string{`spec.names[A]: Invalid value: "A": a lowercase RFC 1123 label…`, `spec.names[b]: Too long: may not be more than 2 bytes`}},
		{`{"a":{},"names":{"a.k8s.io/b":"x"}}`, []string{`spec.names[a.k8s.io/b]: Invalid value: "a.k8s.io/b": k8s.io namespace is reserved`, `spec.names[a.k8s.io/b]: Invalid value: "a.k8s.io/b": a lowercase RFC 1123 label…`}},
		{`{"a":{},"free":["x","x"]}`, nil},
	} {
		expect(t, c.spec, rules.Validate(k, parseTree(t, `{"metadata":{"name":"x"},"spec":`+c.spec+`}`)), c.want)
	}
	expect(t, "no spec", rules.Validate(k, parseTree(t, `{"metadata":{"name":"x"}}`)), []string{`spec: Required value: always`})
}

// TestAbsentObjects checks that the required fields of an absent object are reported as for an
// empty one, unless the object is a pointer.
func TestAbsentObjects(t *testing.T) {
	inner := schema.NewMessage("t.Inner", &schema.Field{Name: "name", Required: true})
	spec := schema.NewMessage("t.Spec",
		&schema.Field{Name: "always", Type: schema.TypeMessage, Message: inner, EmitEmpty: true},
		&schema.Field{Name: "maybe", Type: schema.TypeMessage, Message: inner, EmitEmpty: true, Pointer: true},
		&schema.Field{Name: "some", Type: schema.TypeMessage, Message: inner, EmitEmpty: true, Shape: schema.List},
		&schema.Field{Name: "count", Type: schema.TypeInt32, Pointer: true},
		&schema.Field{Name: "limit", Type: schema.TypeInt32, Pointer: true, RequiredWhen: &schema.RequiredWhen{Field: "count"}},
	)
	k := &schema.Kind{Strategy: schema.DefaultStrategy{}, Declared: schema.DeclarationOf(schema.NewMessage("t.T", &schema.Field{Name: "spec", Type: schema.TypeMessage, Message: spec, EmitEmpty: true}))}
	if err := rules.Compile(nil, k.Message()); err != nil {
		t.Fatal(err)
	}
	for body, want := range map[string][]string{
		`{}`:                               {"spec.always.name: Required value"},
		`{"spec":null}`:                    {"spec.always.name: Required value"},
		`{"spec":{"always":{}}}`:           {"spec.always.name: Required value"},
		`{"spec":{"always":{"name":"a"}}}`: nil,
		`{"spec":{"maybe":{},"some":[]}}`:  {"spec.always.name: Required value", "spec.maybe.name: Required value"},
		`{"spec":{"always":{"name":"a"},"count":0}}`: {"spec.limit: Required value"},
	} {
		obj := parseTree(t, body)
		obj["metadata"] = tree.Tree{"name": "x"}
		expect(t, body, rules.Validate(k, obj), want)
	}
}

func TestIdentity(t *testing.T) {
	list := parseTree(t, `{"l":[{"k":"a"},{"k":"a","p":1},{"k":"a"},{"k":""},{"k":""},{}]}`)["l"]
	for _, c := range []struct {
		unique rules.Unique
		want   []string
	}{
		{rules.Unique{Identity: rules.Identity{Keys: []string{"k", "p"}, Defaults: []any{nil, int64(1)}}, Once: true},
			[]string{`l[1]: Duplicate value: {"k":"a","p":1}`, `l[4]: Duplicate value: {"k":"","p":1}`}},
		{rules.Unique{Identity: rules.Identity{Keys: []string{"k"}}, AtKey: true, AllowEmpty: true}, []string{`l[1].k: Duplicate value: "a"`, `l[2].k: Duplicate value: "a"`}},
		{rules.Unique{}, []string{`l[2]: Duplicate value: {"k":"a"}`, `l[4]: Duplicate value: {"k":""}`}},
	} {
		var faults schema.Faults
		c.unique.Evaluate(schema.NewEvaluation("l", &faults), list, schema.Previous{})
		expect(t, "", faults.List, c.want)
	}
}
