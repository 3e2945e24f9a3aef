package merge

import (
	"encoding/json"
	"testing"

	evanphx "gopkg.in/evanphx/json-patch.v4"
	"pgregory.net/rapid"

	"github.com/troupe-api/troupe/kinds/internal/golden"
	"github.com/troupe-api/troupe/kinds/tree"
)

func parse(t testing.TB, s string) any {
	t.Helper()
	v, err := decodeValue([]byte(s))
	if err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	return v
}

func text(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func anyValue(nulls bool) *rapid.Generator[any] {
	scalars := []*rapid.Generator[any]{
		rapid.Map(rapid.SampledFrom([]string{"", "x", "y/~"}), func(s string) any { return s }),
		rapid.Map(rapid.Int64Range(-2, 2), func(i int64) any { return i }),
		rapid.Map(rapid.Bool(), func(b bool) any { return b }),
	}
	if nulls {
		scalars = append(scalars, rapid.Just[any](nil))
	}
	var deep func(depth int) *rapid.Generator[any]
	deep = func(depth int) *rapid.Generator[any] {
		if depth == 0 {
			return rapid.OneOf(scalars...)
		}
		object := rapid.MapOfN(rapid.SampledFrom([]string{"a", "b", "c", "d/~"}), deep(depth-1), 0, 4)
		list := rapid.SliceOfN(anyItem(), 0, 3)
		return rapid.OneOf(append([]*rapid.Generator[any]{
			rapid.Map(object, func(m map[string]any) any { return tree.Tree(m) }),
			rapid.Map(list, func(l []any) any { return l }),
		}, scalars...)...)
	}
	return deep(3)
}

// anyItem generates list items other than null, which other merge patch implementations treat
// differently.
func anyItem() *rapid.Generator[any] {
	return rapid.OneOf(
		rapid.Map(rapid.SampledFrom([]string{"x", "y"}), func(s string) any { return s }),
		rapid.Map(rapid.MapOfN(rapid.SampledFrom([]string{"a", "b"}), rapid.Int64Range(0, 2), 0, 2), func(m map[string]int64) any {
			out := tree.Tree{}
			for k, v := range m {
				out[k] = v
			}
			return out
		}),
	)
}

func anyObject(nulls bool) *rapid.Generator[tree.Tree] {
	fields := rapid.MapOfN(rapid.SampledFrom([]string{"a", "b", "c", "d/~"}), anyValue(nulls), 0, 4)
	return rapid.Map(fields, func(m map[string]any) tree.Tree { return m })
}

// TestMergeExamples checks the examples of RFC 7386, appendix A.
func TestMergeExamples(t *testing.T) {
	golden.Run(t, "testdata/mergepatch.txt", func(given []string) string {
		return text(t, Merge(parse(t, given[0]), parse(t, given[1])))
	})
}

func TestMergeAgreesAndKeepsCurrent(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		current, patch := anyObject(false).Draw(r, "current"), anyObject(true).Draw(r, "patch")
		before, patchText := text(t, current), text(t, patch)
		got := Merge(current, patch)
		if text(t, current) != before || text(t, patch) != patchText {
			r.Fatalf("the arguments have changed: %s %s", text(t, current), text(t, patch))
		}
		want, err := evanphx.MergePatch([]byte(before), []byte(patchText))
		if err != nil {
			r.Fatal(err)
		}
		if !tree.JSONEqual(got, parse(t, string(want))) {
			r.Fatalf("%s + %s = %s, want %s", before, patchText, text(t, got), want)
		}
	})
}

func TestMergeSharesUnchangedValues(t *testing.T) {
	current := parse(t, `{"a":{"x":1},"b":{"y":1}}`).(tree.Tree)
	got := Merge(current, parse(t, `{"b":{"y":2}}`)).(tree.Tree)
	if !tree.SameRef(got["a"], current["a"]) {
		t.Error("the untouched part was copied")
	}
	if !tree.SameRef(Merge(current, parse(t, `{"b":{"y":1},"c":null}`)), current) {
		t.Error("a patch that changes nothing made a copy")
	}
}
