package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/util/jsonpath"

	ourjsonpath "github.com/troupe-api/troupe/kinds/jsonpath"
	"github.com/troupe-api/troupe/kinds/jsontext"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/quantity"
	"github.com/troupe-api/troupe/kinds/selector"
)

var largeExponent = regexp.MustCompile(`[eE][+-]?\d*[1-9]\d\d`)

// FuzzQuantity compares quantities with the public library.
func FuzzQuantity(f *testing.F) {
	for _, s := range []string{"1", "1.5Gi", "-0.1n", "1e3", "", "1e-9", "8Ei", "9223372036854775808", "0.5Ki", "+1E", ".5m", "1000Ki", "00.10"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 40 || largeExponent.MatchString(s) {
			return // the public library takes minutes
		}
		want, wantErr := resource.ParseQuantity(s)
		got, err := quantity.Parse(s)
		// The public library keeps the sign of quantities that it does not change otherwise.
		if (err == nil) != (wantErr == nil) || err == nil && got != strings.TrimPrefix(want.String(), "+") {
			t.Errorf("%q: got %q, %v, want %q, %v", s, got, err, want.String(), wantErr)
		}
	})
}

// FuzzLabelSelector compares label selectors with the public library.
func FuzzLabelSelector(f *testing.F) {
	for _, s := range []string{"", "a", "!a", "a in (b,c),d!=e", "a>1", "a==b", "x/y notin (,z)", "a in (", " a = b ", "a<-1", "a,a", "a in (b,b)"} {
		f.Add(s)
	}
	sets := []labels.Set{{}, {"a": "b"}, {"a": "1", "d": "e"}, {"a": "", "x/y": "z"}, {"a": "c", "in": "notin"}}
	f.Fuzz(func(t *testing.T, s string) {
		want, wantErr := labels.Parse(s)
		got, err := selector.ParseLabels(s)
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%q: got %v, want %v", s, err, wantErr)
		}
		if err != nil {
			return
		}
		for _, set := range sets {
			var own meta.Labels
			for key, value := range set {
				own = append(own, meta.Label{Key: key, Value: value})
			}
			slices.SortFunc(own, func(a, b meta.Label) int { return strings.Compare(a.Key, b.Key) })
			if got.Matches(own) != want.Matches(set) {
				t.Errorf("%q selects %v: got %t", s, set, got.Matches(own))
			}
		}
	})
}

// FuzzFieldSelector compares field selectors with the public library.
func FuzzFieldSelector(f *testing.F) {
	for _, s := range []string{"", "a=b", "a==b,c!=d", `a=x\,y\=z\\`, "a", "a=b=c", `a=\`, ",a=b,", "=", "a!b=c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var want []string
		parsed, wantErr := fields.ParseSelector(s)
		if wantErr == nil {
			for _, r := range parsed.Requirements() {
				want = append(want, fmt.Sprintf("%q %s %q", r.Field, map[bool]string{true: "NotIn", false: "In"}[r.Operator == "!="], r.Value))
			}
		}
		var got []string
		all, err := selector.FieldRequirements(s)
		for _, r := range all {
			got = append(got, fmt.Sprintf("%q %s %q", r.Key, r.Operator, r.Values[0]))
		}
		if (err == nil) != (wantErr == nil) || !slices.Equal(got, want) {
			t.Errorf("%q: got %v, %v, want %v, %v", s, got, err, want, wantErr)
		}
	})
}

const jsonPathObject = `{"a":{"b":[1,2,3],"c":"x","d.e":true,"list":[{"n":"p","v":1},{"n":"q","v":2}]},"f":null,"g":{}}`

// FuzzJSONPath compares JSONPath expressions with the public library. Expressions that either of
// them does not support are skipped, because the server supports only those of printer columns.
func FuzzJSONPath(f *testing.F) {
	for _, s := range []string{".a.b", ".a.b[0]", ".a.b[-1]", ".a.b[0:2]", ".a.b[*]", `.a['d\.e']`, ".a.list[?(@.n==\"q\")].v", "..n", ".a.*", ".a.b[::2]", ".a['b','c']", ".a.list[?(@.v>1)].n", ".f", ".none"} {
		f.Add(s)
	}
	var object any
	if err := json.Unmarshal([]byte(jsonPathObject), &object); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, s string) {
		path, ok := ourjsonpath.Parse(s)
		if !ok || strings.ContainsAny(s, "{}") {
			return
		}
		reference := jsonpath.New("x").AllowMissingKeys(true)
		if reference.Parse("{"+s+"}") != nil {
			return
		}
		found, err := reference.FindResults(object)
		if err != nil || len(found) != 1 {
			return
		}
		var want, got []string
		for _, v := range found[0] {
			text, err := json.Marshal(v.Interface())
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, string(text))
		}
		path.Walk(jsontext.Value(jsonPathObject), func(v jsontext.Value) bool {
			var compact bytes.Buffer
			if err := json.Compact(&compact, v); err != nil {
				t.Fatal(err)
			}
			got = append(got, compact.String())
			return true
		})
		slices.Sort(want) // the public library walks maps in any order
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%q: got %v, want %v", s, got, want)
		}
	})
}
