package extension

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"pgregory.net/rapid"

	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/test/client"
	"github.com/troupe-api/troupe/test/public"
)

// changed generates a value similar to v.
func changed(t *rapid.T, v any) any {
	switch rapid.IntRange(0, 5).Draw(t, "change") {
	case 0:
		return values(2).Draw(t, "other value")
	case 1, 2:
		return v
	}
	switch v := v.(type) {
	case map[string]any:
		out := maps.Clone(v)
		for _, name := range slices.Sorted(maps.Keys(out)) {
			out[name] = changed(t, out[name])
		}
		if rapid.Bool().Draw(t, "one more") {
			out[rapid.SampledFrom(customNames[:4]).Draw(t, "name")] = values(1).Draw(t, "more")
		}
		return out
	case []any:
		out := make([]any, 0, len(v)+1)
		for _, item := range v {
			out = append(out, changed(t, item))
		}
		if rapid.Bool().Draw(t, "one more") {
			out = append(out, values(2).Draw(t, "more"))
		}
		if !keyed(any(v)) && rapid.Bool().Draw(t, "turned") { // the reference ignores the order of keyed items
			slices.Reverse(out)
		}
		return out
	}
	return v
}

// keyed reports whether v is a list of objects with unique names.
func keyed(v any) bool {
	list, ok := v.([]any)
	seen := map[any]bool{}
	for _, item := range list {
		object, _ := item.(map[string]any)
		name, text := object["a"].(string)
		ok = ok && text && !seen[name]
		seen[name] = true
	}
	return ok
}

// TestRatchetingAgainstReference compares validation errors with the reference implementation, for
// updates that leave some invalid values unchanged.
func TestRatchetingAgainstReference(t *testing.T) {
	t.Parallel()
	reference, err := public.NewSchema([]byte(everything))
	if err != nil {
		t.Fatal(err)
	}
	all, err := catalog.New(meta.Kubernetes)
	if err != nil {
		t.Fatal(err)
	}
	kind := compile(t, all)
	rapid.Check(t, func(t *rapid.T) {
		before := rapid.MapOfN(rapid.SampledFrom(customNames), values(2), 0, 5).Draw(t, "before")
		if rapid.Bool().Draw(t, "entries") {
			var list []any
			for _, name := range rapid.SliceOfDistinct(rapid.SampledFrom([]string{"a", "b", "ab"}), rapid.ID).Draw(t, "keys") {
				list = append(list, map[string]any{"a": name, "b": values(0).Draw(t, "value"), "c": values(0).Draw(t, "value")})
			}
			before["f"] = list
		}
		after, _ := changed(t, before).(map[string]any)
		if after == nil {
			after = before
		}
		for _, spec := range []map[string]any{before, after} {
			if _, list := spec["l"].([]any); list {
				delete(spec, "l") // the reference accepts any list for a string with a format
			}
			delete(spec, "m") // the errors of alternatives differ
			delete(spec, "i") // the reference never treats an object with unknown fields as unchanged
			delete(spec, "j")
			if !keyed(spec["f"]) {
				delete(spec, "f") // nor a list whose items lack keys
			}
		}
		object := func(spec map[string]any) []byte {
			body := client.Encode(t, map[string]any{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"name": "a"}, "spec": spec})
			return body
		}
		texts := [2][]byte{object(before), object(after)}
		var theirs [2]map[string]any
		for i, text := range texts {
			if theirs[i], err = public.Decode(text); err != nil {
				t.Fatal(err)
			}
			reference.Shape(theirs[i])
		}
		old, _, err := codec.DecodeJSON(kind.Message(), texts[0])
		if err != nil {
			t.Fatal(err)
		}
		now, _, err := codec.DecodeJSON(kind.Message(), texts[1])
		if err != nil {
			t.Fatal(err)
		}
		rules.Default(kind, old)
		rules.Default(kind, now)
		var faults schema.Faults
		kind.Strategy.ValidateServed(now, old, &faults)
		var got, wanted []string
		for _, c := range faults.List {
			if c.Type != meta.CauseDuplicate { // duplicates in sets and maps are checked later
				got = append(got, fmt.Sprintf("%s %s", c.Type, c.Field))
			}
		}
		for _, e := range reference.ValidateUpdate(theirs[1], theirs[0]) {
			if isRepeated(e) {
				continue
			}
			if parts := strings.Split(e.Detail, `"`); e.Field == "<nil>" && len(parts) > 1 {
				e.Field = parts[1] // only the detail names the field
			}
			if e.Type != field.ErrorTypeDuplicate {
				wanted = append(wanted, string(e.Type)+" "+e.Field)
			}
		}
		slices.Sort(got)
		slices.Sort(wanted)
		if got, wanted = slices.Compact(got), slices.Compact(wanted); !slices.Equal(got, wanted) {
			t.Fatalf("%s\nwas %s\nhas\n%s\nwant\n%s", texts[1], texts[0], strings.Join(got, "\n"), strings.Join(wanted, "\n"))
		}
	})
}
