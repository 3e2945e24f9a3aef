package extension

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	v1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"pgregory.net/rapid"

	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/test/client"
)

// everything is a schema with every schema feature.
const everything = `{"type":"object","properties":{"spec":{"type":"object","required":["a"],"minProperties":1,"maxProperties":6,"properties":{
	"a":{"type":"integer","minimum":0,"maximum":3},
	"b":{"type":"string","minLength":1,"maxLength":2,"pattern":"^[ab]*$","default":"a"},
	"c":{"type":"boolean","nullable":true},
	"d":{"type":"number","multipleOf":2,"minimum":0,"exclusiveMinimum":true},
	"e":{"type":"array","minItems":1,"maxItems":2,"items":{"type":"string"},"x-kubernetes-list-type":"set"},
	"f":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["a"],"items":{"type":"object","required":["a"],"properties":{"a":{"type":"string"},"b":{"type":"integer","default":1},"c":{"type":"string","nullable":true,"default":"c"}}}},
	"g":{"type":"object","additionalProperties":{"type":"integer"}},
	"h":{"x-kubernetes-int-or-string":true},
	"i":{"type":"object","x-kubernetes-preserve-unknown-fields":true,"properties":{"a":{"type":"object","properties":{"b":{"type":"string"}}}}},
	"j":{"x-kubernetes-preserve-unknown-fields":true},
	"k":{"type":"string","enum":["a","b"]},
	"l":{"type":"string","format":"date-time"},
	"m":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"oneOf":[{"required":["a"]},{"required":["b"]}],"not":{"required":["c"]}},
	"n":{"type":"object","default":{},"properties":{"a":{"type":"integer","default":7}}},
	"o":{"type":"array","items":{"type":"array","items":{"type":"integer"}}}}}}}`

var customNames = strings.Split("abcdefghijklmno", "")

func values(depth int) *rapid.Generator[any] {
	scalars := rapid.SampledFrom([]any{nil, true, int64(0), int64(2), int64(5), 0.5, 0.3, 2.0, "", "a", "ab", "abc", "x", "2020-01-01T00:00:00Z"})
	if depth == 0 {
		return scalars
	}
	return rapid.OneOf(scalars,
		rapid.Map(rapid.SliceOfN(values(depth-1), 0, 3), func(l []any) any { return l }),
		rapid.Map(rapid.MapOfN(rapid.SampledFrom(customNames[:4]), values(depth-1), 0, 3), func(m map[string]any) any { return m }))
}

func TestAgainstReference(t *testing.T) {
	t.Parallel()
	var external v1.JSONSchemaProps
	client.Decode(t, everything, &external)
	var internal apiextensions.JSONSchemaProps
	if err := v1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&external, &internal, nil); err != nil {
		t.Fatal(err)
	}
	structural, err := structuralschema.NewStructural(&internal)
	if err != nil {
		t.Fatal(err)
	}
	validator, _, err := validation.NewSchemaValidator(&internal)
	if err != nil {
		t.Fatal(err)
	}
	all, err := catalog.New(meta.Kubernetes)
	if err != nil {
		t.Fatal(err)
	}
	kind := compile(t, all)
	rapid.Check(t, func(t *rapid.T) {
		spec := rapid.MapOfN(rapid.SampledFrom(customNames), values(2), 0, 5).Draw(t, "spec")
		if _, list := spec["l"].([]any); list {
			delete(spec, "l") // the reference accepts any list for a string with a format
		}
		object := map[string]any{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"name": "a"}, "spec": spec}
		body := client.Encode(t, object)
		ours, _, err := codec.DecodeJSON(kind.Message(), body)
		if err != nil {
			t.Fatal(err)
		}
		rules.Default(kind, ours)
		object = nil // decode the numbers as encoded: 2.0 is encoded as 2
		if err := utiljson.Unmarshal(body, &object); err != nil {
			t.Fatal(err)
		}
		pruning.Prune(object, structural, true)
		defaulting.PruneNonNullableNullsWithoutDefaults(object, structural)
		defaulting.Default(object, structural)
		want := client.Encode(t, object["spec"])
		if got := codec.AppendAny(nil, ours["spec"]); string(got) != string(want) {
			t.Fatalf("%s becomes\n%s, want\n%s", body, got, want)
		}
		var faults schema.Faults
		kind.Strategy.ValidateServed(ours, nil, &faults)
		if len(faults.List) == 0 && kind.Strategy.HasExpressions() {
			kind.Strategy.Evaluate(t.Context(), ours, nil, &faults)
		}
		var got, wanted []string
		for _, c := range faults.List {
			if strings.HasPrefix(c.Field, "spec.m.") {
				continue
			}
			got = append(got, fmt.Sprintf("%s %s", c.Type, c.Field))
		}
		errs := validation.ValidateCustomResource(nil, object, validator)
		errs = append(errs, listtype.ValidateListSetsAndMaps(nil, structural, object)...)
		for _, e := range errs {
			if isRepeated(e) || strings.HasPrefix(e.Detail, "must be an object for an array") ||
				strings.HasPrefix(e.Field, "spec.f[") && e.Type == field.ErrorTypeDuplicate && fmt.Sprint(e.BadValue) == "map[]" {
				continue // the wrong type or the missing keys have been reported already
			}
			if parts := strings.Split(e.Detail, `"`); e.Field == "<nil>" && len(parts) > 1 {
				e.Field = parts[1] // only the detail names the field
			}
			if strings.HasPrefix(e.Field, "spec.m.") {
				continue // an error of one of several alternatives
			}
			wanted = append(wanted, string(e.Type)+" "+e.Field)
		}
		slices.Sort(got)
		slices.Sort(wanted)
		if !slices.Equal(slices.Compact(got), slices.Compact(wanted)) {
			t.Fatalf("%s has\n%s\nwant\n%v", want, strings.Join(got, "\n"), errs)
		}
	})
}

func compile(t *testing.T, all *catalog.Catalog) *schema.Kind {
	return compileSchema(t, all, everything)
}

func compileSchema(t *testing.T, all *catalog.Catalog, text string) *schema.Kind {
	t.Helper()
	definition := fmt.Sprintf(`{"metadata":{"name":"widgets.example.com"},"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"widgets","kind":"Widget"},
		"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":%s}}]}}`, text)
	k := all.Kind("apiextensions.k8s.io", "v1", "customresourcedefinitions")
	tree, faults, err := codec.DecodeJSON(k.Message(), []byte(definition))
	if err != nil || len(faults) > 0 {
		t.Fatal(faults, err)
	}
	return all.Compile(tree).Stored
}
