package extension

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/test/client"
	"github.com/troupe-api/troupe/test/public"
)

// A schemaGenerator generates nested, sparse and partly open schemas, with defaults and rules for
// nested fields.
type schemaGenerator struct{ t *rapid.T }

func (s schemaGenerator) oneOf(label string, of ...string) string {
	return rapid.SampledFrom(of).Draw(s.t, label)
}
func (s schemaGenerator) chance(label string, in int) bool {
	return rapid.IntRange(1, in).Draw(s.t, label) == 1
}

func (s schemaGenerator) scalar() map[string]any {
	out := map[string]any{"type": s.oneOf("type", "string", "integer", "boolean", "number")}
	if s.chance("default", 3) {
		out["default"] = map[string]any{"string": "a", "integer": 2, "boolean": true, "number": 0.5}[out["type"].(string)]
	}
	return out
}

// value generates a schema of any type with at most depth nested levels.
func (s schemaGenerator) value(depth int) map[string]any {
	if depth == 0 {
		return s.scalar()
	}
	var out map[string]any
	switch s.oneOf("shape", "scalar", "object", "object", "object", "map", "list", "list", "any", "either") {
	case "object":
		out = s.object(depth)
	case "map":
		out = map[string]any{"type": "object", "additionalProperties": s.value(depth - 1)}
		if s.chance("of anything", 5) {
			out["additionalProperties"] = true
		}
	case "list":
		out = map[string]any{"type": "array", "items": s.value(depth - 1)}
		s.open(out)
	case "any":
		out = map[string]any{"x-kubernetes-preserve-unknown-fields": true}
	case "either":
		out = map[string]any{"x-kubernetes-int-or-string": true}
	default:
		out = s.scalar()
	}
	if s.chance("nullable", 5) {
		out["nullable"] = true
	}
	return out
}

func (s schemaGenerator) open(out map[string]any) {
	if s.chance("open", 4) {
		out["x-kubernetes-preserve-unknown-fields"] = true
	}
}

func (s schemaGenerator) object(depth int) map[string]any {
	properties := map[string]any{}
	for _, name := range customNames[:rapid.IntRange(0, 4).Draw(s.t, "properties")] {
		properties[name] = s.value(depth - 1)
	}
	out := map[string]any{"type": "object"}
	if len(properties) > 0 {
		out["properties"] = properties
		if s.chance("required", 8) {
			out["required"] = []string{"a"}
		}
		s.rules(out)
	}
	if out["required"] == nil && s.chance("default", 4) { // a default must be valid
		out["default"] = map[string]any{}
	}
	s.open(out)
	return out
}

// rules adds a rule about a random nested field to some schemas.
func (s schemaGenerator) rules(out map[string]any) {
	if s.chance("no rule", 2) {
		return
	}
	var guards []string
	at, path := out, "self"
	for {
		properties, _ := at["properties"].(map[string]any)
		name := s.oneOf("step", customNames[:4]...)
		next, there := properties[name].(map[string]any)
		if !there {
			break
		}
		at, path = next, path+"."+name
		guards = append(guards, "!has("+path+")")
	}
	constant, scalar := map[string]string{"string": "'a'", "integer": "2", "boolean": "true", "number": "0.5"}[fmt.Sprint(at["type"])]
	if scalar && at["nullable"] == nil && path != "self" {
		rule := strings.Join(append(guards, path+" == "+constant), " || ")
		out["x-kubernetes-validations"] = []any{map[string]any{"rule": rule}}
	}
}

// valueOf generates a value that usually conforms to a schema.
func (s schemaGenerator) valueOf(of map[string]any, depth int) any {
	if s.chance("odd", 12) || depth == 0 {
		return values(2).Draw(s.t, "odd value")
	}
	switch of["type"] {
	case "string":
		return s.oneOf("string", "a", "b", "")
	case "integer":
		return int64(rapid.IntRange(0, 3).Draw(s.t, "integer"))
	case "boolean":
		return s.chance("boolean", 2)
	case "number":
		return 0.5
	case "array":
		out := []any{}
		items, _ := of["items"].(map[string]any)
		for range rapid.IntRange(0, 2).Draw(s.t, "items") {
			out = append(out, s.valueOf(items, depth-1))
		}
		return out
	case "object":
		out := map[string]any{}
		properties, _ := of["properties"].(map[string]any)
		for _, name := range customNames[:4] {
			if below, _ := properties[name].(map[string]any); below != nil && s.chance("there", 2) {
				out[name] = s.valueOf(below, depth-1)
			}
		}
		if more, _ := of["additionalProperties"].(map[string]any); more != nil {
			out["z"] = s.valueOf(more, depth-1)
		}
		if s.chance("unknown", 4) {
			out["y"] = values(2).Draw(s.t, "unknown value")
		}
		return out
	}
	return values(2).Draw(s.t, "any value")
}

func newReference(t rapid.TB, text []byte) *public.Schema {
	s, err := public.NewSchema(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// faultyFields returns the fields of an object that the reference implementation rejects. ruled
// reports whether it evaluated the validation rules.
func faultyFields(t *rapid.T, r *public.Schema, o map[string]any) (fields []string, ruled bool) {
	errs, ruled := r.Validate(t.Context(), o)
	for _, e := range errs {
		fields = append(fields, e.Field)
	}
	slices.Sort(fields)
	return slices.Compact(fields), ruled
}

// TestRandomSchemas compares defaulting, pruning and validation of random objects under random
// schemas with the reference implementation.
func TestRandomSchemas(t *testing.T) {
	t.Parallel()
	all, err := catalog.New(meta.Kubernetes)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		s := schemaGenerator{t}
		spec := s.object(4)
		text := client.Encode(t, map[string]any{"type": "object", "properties": map[string]any{"spec": spec}})
		kind := compileText(t, all, string(text))
		object := map[string]any{
			"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"name": "a"}, "spec": s.valueOf(spec, 6),
		}
		body := client.Encode(t, object)
		ours, _, err := codec.DecodeJSON(kind.Message(), body)
		if err != nil {
			t.Fatal(err)
		}
		rules.Default(kind, ours)
		r := newReference(t, text)
		r.Shape(object)
		want := client.Encode(t, object["spec"])
		if got := codec.AppendAny(nil, ours["spec"]); string(got) != string(want) {
			t.Fatalf("under %s\n%s becomes\n%s, want\n%s", text, body, got, want)
		}
		compareFaults(t, r, kind, ours, object)
	})
}

func compareFaults(t *rapid.T, r *public.Schema, kind *schema.Kind, ours tree.Tree, object map[string]any) {
	var faults schema.Faults
	kind.Strategy.ValidateServed(ours, nil, &faults)
	if len(faults.List) == 0 && kind.Strategy.HasExpressions() {
		kind.Strategy.Evaluate(t.Context(), ours, nil, &faults)
	}
	var got []string
	for _, c := range faults.List {
		got = append(got, c.Field)
	}
	slices.Sort(got)
	got = slices.Compact(got)
	want, ruled := faultyFields(t, r, object)
	if len(got) != len(want) && (ruled || len(want) == 0 || len(got) == 0) || ruled && !slices.Equal(got, want) {
		t.Fatalf("under %s\n%s has faults at %q: %v, want %q", codec.AppendAny(nil, kind.Origin.Schema.Tree()), codec.AppendAny(nil, ours), got, faults.List, want)
	}
}

// compileText compiles a schema. It first checks that the server accepts it.
func compileText(t *rapid.T, all *catalog.Catalog, text string) *schema.Kind {
	definition := fmt.Sprintf(`{"metadata":{"name":"widgets.example.com"},"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"widgets","kind":"Widget"},
		"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":%s}}]}}`, text)
	k := all.Kind("apiextensions.k8s.io", "v1", "customresourcedefinitions")
	tree, unknown, err := codec.DecodeJSON(k.Message(), []byte(definition))
	if err != nil || len(unknown) > 0 {
		t.Fatal(unknown, err)
	}
	rules.Default(k, tree)
	k.Preparer.Prepare(tree, nil)
	if causes := rules.Validate(k, tree); len(causes) > 0 {
		t.Fatalf("%s: %v", text, causes)
	}
	return all.Compile(tree).Stored
}
