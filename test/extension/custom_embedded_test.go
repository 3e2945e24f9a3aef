package extension

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apimachinery/pkg/runtime"
	"pgregory.net/rapid"

	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/test/client"
	"github.com/troupe-api/troupe/test/public"
)

const embedding = `{"type":"object","properties":{"spec":{"type":"object","properties":{
	"one":{"type":"object","x-kubernetes-embedded-resource":true,"properties":{"spec":{"type":"object","properties":{"a":{"type":"integer"}}}}},
	"open":{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true},
	"list":{"type":"array","items":{"type":"object","properties":{"template":{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true}}}},
	"map":{"type":"object","additionalProperties":{"type":"object","x-kubernetes-embedded-resource":true,"properties":{"a":{"type":"integer"}}}}}}}}`

// embedded generates valid and invalid embedded resources.
func embedded() *rapid.Generator[any] {
	text := func(all ...any) *rapid.Generator[any] { return rapid.SampledFrom(all) }
	fields := map[string]*rapid.Generator[any]{
		"apiVersion": text("v1", "apps/v1", "a/b/c", "", int64(1)),
		"kind":       text("Pod", "a b", "", true),
	}
	metadata := map[string]*rapid.Generator[any]{
		"name": text("a", "", "a/b", "..", "A_b", int64(1)), "generateName": text("a-", ""), "namespace": text("a", "", "A_"),
		"labels":            text(map[string]any{}, map[string]any{"a": "b"}, map[string]any{"a b": "c d"}, map[string]any{"a": int64(1)}, nil, []any{}),
		"annotations":       text(map[string]any{"a": "b"}, map[string]any{"a b": ""}, "x"),
		"finalizers":        text([]any{}, []any{"a"}, []any{"a b", "c"}, []any{int64(1)}),
		"generation":        text(int64(0), int64(1), int64(-1), "x"),
		"creationTimestamp": text(nil, "2020-01-01T00:00:00Z", "now"),
		"ownerReferences":   text([]any{map[string]any{"apiVersion": "v1", "kind": "Pod", "name": "a", "uid": "b"}}, []any{map[string]any{"apiVersion": "", "kind": "", "name": "", "uid": "", "x": int64(1)}}),
		"unknown":           text("x", map[string]any{"a": "b"}), "deletionGracePeriodSeconds": text(int64(0), int64(3)),
	}
	some := func(t *rapid.T, of map[string]*rapid.Generator[any]) map[string]any {
		drawn := map[string]any{}
		for _, name := range slices.Sorted(func(yield func(string) bool) {
			for name := range of {
				if !yield(name) {
					return
				}
			}
		}) {
			if rapid.IntRange(0, 2).Draw(t, name+"?") == 0 {
				drawn[name] = of[name].Draw(t, name)
			}
		}
		return drawn
	}
	return rapid.Custom(func(t *rapid.T) any {
		object := some(t, fields)
		if rapid.Bool().Draw(t, "valid") {
			object["apiVersion"], object["kind"] = "v1", "Pod"
		}
		switch rapid.IntRange(0, 9).Draw(t, "metadata?") {
		case 0:
		case 1:
			object["metadata"] = rapid.SampledFrom([]any{"x", nil, []any{}}).Draw(t, "other metadata")
		default:
			object["metadata"] = some(t, metadata)
		}
		object["a"] = int64(1)
		return object
	})
}

// TestEmbeddedAgainstReference compares embedded resources with the reference implementation: their
// coercion, pruning, and validation of kind, apiVersion and metadata.
func TestEmbeddedAgainstReference(t *testing.T) {
	t.Parallel()
	reference, err := public.NewSchema([]byte(embedding))
	if err != nil {
		t.Fatal(err)
	}
	all, err := catalog.New(meta.Kubernetes)
	if err != nil {
		t.Fatal(err)
	}
	kind := compileSchema(t, all, embedding)
	rapid.Check(t, func(t *rapid.T) {
		spec := map[string]any{}
		for _, field := range []string{"one", "open", "map", "list"} {
			if !rapid.Bool().Draw(t, field) {
				continue
			}
			object := embedded().Draw(t, field+" object")
			switch field {
			case "map":
				object = map[string]any{"a b": object}
			case "list":
				object = []any{map[string]any{}, map[string]any{"template": object, "unknown": int64(1)}}
			}
			spec[field] = object
		}
		object := map[string]any{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"name": "a"}, "spec": spec}
		body := client.Encode(t, object)
		ours, faults, err := codec.DecodeJSON(kind.Message(), body)
		object = runtime.DeepCopyJSON(object)
		unknown := pruning.PruneWithOptions(object, reference.Structural, true, structural.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
		refused, more := objectmeta.CoerceWithOptions(nil, object, reference.Structural, false, objectmeta.CoerceOptions{ReturnUnknownFieldPaths: true})
		if (err != nil) != (refused != nil) {
			t.Fatalf("%s: %v, want %v", body, err, refused)
		}
		if err != nil {
			return
		}
		want := client.Encode(t, object["spec"])
		if got := codec.AppendAny(nil, ours["spec"]); string(got) != string(want) {
			t.Fatalf("%s becomes\n%s, want\n%s", body, got, want)
		}
		var paths []string
		for _, f := range faults {
			paths = append(paths, f.Path)
		}
		if unknown = append(unknown, more...); !slices.Equal(paths, unknown) {
			t.Fatalf("%s: unknown are %q, want %q", body, paths, unknown)
		}
		var found schema.Faults
		kind.Strategy.ValidateServed(ours, nil, &found)
		var got, wanted []string
		for _, c := range found.List {
			got = append(got, fmt.Sprintf("%s %s: %s", c.Type, c.Field, c.Message))
		}
		for _, e := range objectmeta.Validate(t.Context(), nil, object, reference.Structural, false) {
			wanted = append(wanted, fmt.Sprintf("%s %s: %s", string(e.Type), e.Field, e.ErrorBody()))
		}
		slices.Sort(got)
		slices.Sort(wanted)
		if !slices.Equal(slices.Compact(got), slices.Compact(wanted)) {
			t.Fatalf("%s has\n%s\nwant\n%s", want, strings.Join(got, "\n"), strings.Join(wanted, "\n"))
		}
	})
}
