package api

import (
	"bytes"
	stdjson "encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/util/jsonpath"
	"sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/troupe-api/troupe/kinds/codec"
	ourjsonpath "github.com/troupe-api/troupe/kinds/jsonpath"
	"github.com/troupe-api/troupe/kinds/jsontext"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/quantity"
	"github.com/troupe-api/troupe/kinds/selector"
	"github.com/troupe-api/troupe/kinds/tree"
)

var largeExponent = regexp.MustCompile(`[eE][+-]?\d*[1-9]\d\d`)

// FuzzQuantity compares quantities with the public library.
func FuzzQuantity(f *testing.F) {
	for _, s := range []string{"1", "1.5Gi", "-0.1n", "1e3", "", "1e-9", "8Ei", "9223372036854775808", "0.5Ki", "+1E", ".5m", "1000Ki", "00.10", "+", "-.", "m", "Ti", "Pi", "-Ei", "e-9", "e-10", "1..", "i", "1.", "+1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 40 || largeExponent.MatchString(s) {
			return // the public library takes minutes
		}
		want, wantErr := resource.ParseQuantity(s)
		got, err := quantity.Parse(s)
		same := err == nil && got == want.String()
		if err == nil && want.String() == s { // it keeps a text such as "+1" or "1."
			same = want.Cmp(resource.MustParse(got)) == 0
		}
		if fmt.Sprint(err) != fmt.Sprint(wantErr) || err == nil && !same {
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
		if strings.Contains(s, "\x00") {
			return // the public library ignores a null character and what follows
		}
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
	if err := stdjson.Unmarshal([]byte(jsonPathObject), &object); err != nil {
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
			text, err := stdjson.Marshal(v.Interface())
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, string(text))
		}
		path.Walk(jsontext.Value(jsonPathObject), func(v jsontext.Value) bool {
			var compact bytes.Buffer
			if err := stdjson.Compact(&compact, v); err != nil {
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

// FuzzJSON compares the decoding of JSON without a schema with the public library.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{`{"a":1,"a":2.0}`, "9223372036854775808", "-9223372036854775808", "1e400", "-0", `"\ud800\u0041"`, "[1,]", "\"\xff\"", "nul", `{"A":1,"a":null}`, " [ ] ", "0.1E+1", "01", "\ufeff1"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var want any
		wantErr := json.UnmarshalCaseSensitivePreserveInts(text, &want)
		got, _, err := codec.DecodeAny(text)
		compareTree(t, text, got, err, want, wantErr)
	})
}

// FuzzYAML compares the decoding of YAML without a schema with the public library.
func FuzzYAML(f *testing.F) {
	for _, s := range []string{"a: 1", "a: &x [1, 1.5, ~]\nb: *x", "a: {<<: {b: 1}}", "1: a\ntrue: b\n1.5: c", "a: !!binary aGk=", "a: 2001-01-01", "a: 0o7\nb: 010\nc: 1_000\nd: yes", "a: |\n  x\n  y\n", "a: .inf", "a: 18446744073709551615", "a: b: c", "\ta: 1", "{a: b}", "a: \"\\ud800\""} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if bytes.Contains(text, []byte("---")) || bytes.Contains(text, []byte("...")) {
			return // the public library ignores further documents
		}
		var want any
		inJSON, wantErr := yaml.YAMLToJSON(text)
		if wantErr == nil {
			wantErr = json.UnmarshalCaseSensitivePreserveInts(inJSON, &want)
		}
		if _, ok := want.(map[string]any); wantErr == nil && !ok {
			return
		}
		got, err := codec.DecodeUntyped(text)
		compareTree(t, text, any(got), err, want, wantErr)
	})
}

// compareTree compares the results of two decoders. The server's limits nesting and aliases, and
// rejects YAML keys that are equal in JSON. The public library keeps one of them at random.
func compareTree(t *testing.T, text []byte, got any, err error, want any, wantErr error) {
	t.Helper()
	if err != nil && (strings.Contains(err.Error(), "max depth") || strings.Contains(err.Error(), "excessive aliasing") || strings.Contains(err.Error(), "already set in map")) {
		return
	}
	if (err == nil) != (wantErr == nil) || err == nil && string(codec.AppendAny(nil, got)) != string(codec.AppendAny(nil, asTree(want))) {
		t.Errorf("%q: got %#v, %v, want %#v, %v", text, got, err, want, wantErr)
	}
}

// asTree converts maps to trees.
func asTree(v any) any {
	switch v := v.(type) {
	case map[string]any:
		t := tree.Tree{}
		for key, item := range v {
			t[key] = asTree(item)
		}
		return t
	case []any:
		for i := range v {
			v[i] = asTree(v[i])
		}
	}
	return v
}
