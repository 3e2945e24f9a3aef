package codec

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"

	"github.com/troupe-api/troupe/kinds/tree"
)

func TestEncodeJSON(t *testing.T) {
	const empty = `{"kind":"Thing","apiVersion":"v1","metadata":{"resourceVersion":""},"spec":{"needed":null}}`
	for _, c := range []struct{ name, in, want string }{
		{"empty", `{}`, empty},
		{"own kind and version", `{"kind":"Other","apiVersion":"v9","metadata":{"resourceVersion":"7"}}`, empty},
		{"zero values", `{"data":{},"spec":{"count":0,"hostNetwork":false,"nodeName":"","args":[],"ratio":0}}`, empty},
		{"kept zero values", `{"immutable":false,"spec":{"replicas":0,"target":0,"size":"0","extra":{},"needed":[]}}`,
			`{"kind":"Thing","apiVersion":"v1","metadata":{"resourceVersion":""},"immutable":false,"spec":{"replicas":0,"target":0,"size":"0","extra":{},"needed":[]}}`},
		{"order", `{"spec":{"parts":[{"optional":false,"name":"n","hostPath":"/"},{}]},"data":{"b":"2","a":"<&>"},"metadata":{"uid":"u","name":"n","labels":{"y":"","x":"1"}}}`,
			`{"kind":"Thing","apiVersion":"v1","metadata":{"name":"n","uid":"u","resourceVersion":"","labels":{"x":"1","y":""}},"data":{"a":"\u003c\u0026\u003e","b":"2"},"spec":{"parts":[{"name":"n","hostPath":"/","optional":false},{"name":""}],"needed":null}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			tree, _, err := DecodeJSON(thingPlan, []byte(c.in))
			if err != nil {
				t.Fatal(err)
			}
			got := EncodeJSON(thing, tree)
			if string(got.JSON) != c.want {
				t.Errorf("got  %s\nwant %s", got.JSON, c.want)
			}
			if before := got.JSON[:got.VersionOffset]; !bytes.HasSuffix(before, []byte(`"resourceVersion":"`)) {
				t.Errorf("slot %d after %s", got.VersionOffset, before)
			}
		})
	}
}

func TestAppendFloatIsGos(t *testing.T) {
	for _, n := range []float64{0, 1, -1.5, 1e-6, 1e-7, 1e20, 1e21, -1e-9, 1e100, math.MaxFloat64, math.SmallestNonzeroFloat64} {
		want, err := json.Marshal(n)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(appendFloat(nil, n)); got != string(want) {
			t.Errorf("got %s want %s", got, want)
		}
	}
	if got := string(AppendAny(nil, []any{math.NaN(), math.Inf(1)})); got != "[null,null]" {
		t.Error(got)
	}
}

func TestEncodeWithoutTypes(t *testing.T) {
	// An unvalidated tree must not cause a panic.
	object := tree.Tree{"metadata": "x", "data": []any{1}, "spec": tree.Tree{"parts": tree.Tree{}, "args": true}}
	if out := EncodeJSON(thing, object); !json.Valid(out.JSON) {
		t.Errorf("%s", out.JSON)
	}
}
