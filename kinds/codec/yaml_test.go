package codec

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestYAML(t *testing.T) {
	all := []rune{}
	for r := range rune(0x100) {
		all = append(all, r, 0x2000+r)
	}
	text := string(append(all, 0xfeff, 0xfffd, 0xfffe, 0xffff, 0x1f600, 0x10ffff))
	for _, s := range append(strings.Split(text, ""), text, "a"+text, "\u0085a", "a\u0085\u2028b", "\x7f") {
		for _, pair := range [][2]string{{"k", s}, {s, "v"}} {
			if len(pair[0]) > 500 {
				continue // longer than the limit for YAML keys
			}
			want, err := json.Marshal(map[string]any{"data": map[string]string{pair[0]: pair[1]}})
			if err != nil {
				t.Fatal(err)
			}
			out, err := YAML(want)
			if err != nil {
				t.Errorf("%q: %v", pair, err)
				continue
			}
			got, _, err := DecodeYAML(thingPlan, out)
			if err != nil || got.Object("data").String(pair[0]) != pair[1] {
				t.Errorf("%q: %q is read as %q, %v", pair, out, AppendAny(nil, got), err)
			}
		}
	}
}

func TestDecodeYAML(t *testing.T) {
	for _, c := range []struct{ name, in, want, fault, err string }{
		{name: "plain", in: "apiVersion: v1\nkind: Thing\ndata:\n  a: \"1\"\nspec:\n  count: 3\n  ports: [1, 2]\n  extra: {a: 1.5, 1: yes, b: ~}\n",
			want: `{"apiVersion":"v1","data":{"a":"1"},"kind":"Thing","spec":{"count":3,"extra":{"1":true,"a":1.5,"b":null},"ports":[1,2]}}`},
		{name: "JSON", in: "\n {\"data\":{\"a\":\"\\u0041\"},\"x\":1}", want: `{"data":{"a":"A"}}`, fault: `unknown field "x"`},
		{name: "flow style", in: "{data: {a: b}}", want: `{"data":{"a":"b"}}`},
		{name: "alias", in: "data: &d {a: b}\nspec:\n  extra: *d\n", want: `{"data":{"a":"b"},"spec":{"extra":{"a":"b"}}}`},
		{name: "duplicate", in: "data:\n  a: x\n  a: z\n", want: `{"data":{"a":"z"}}`,
			fault: "yaml: unmarshal errors:\n  line 3: key \"a\" already set in map"},
		{name: "unknown", in: "data: {}\nfoo: 1", want: `{"data":{}}`, fault: `unknown field "foo"`},
		{name: "number as text", in: "data: {a: 1}", err: "json: cannot unmarshal number into Go struct field Thing.data of type string"},
		{name: "text", in: "hello", err: "json: cannot unmarshal string into Go value of type v1.Thing"},
		{name: "nothing", in: "", err: "json: cannot unmarshal null into Go value of type v1.Thing"},
		{name: "malformed", in: "a: [", err: "yaml: line 1: did not find expected node content"},
		{name: "infinity", in: "spec: {extra: .inf}", err: "json: unsupported value: +Inf"},
		{name: "keys equal in JSON", in: "spec: {extra: {1: a, '1': ~}}", err: `yaml: key "1" already set in map`},
		{name: "odd key", in: "data: {? [a] : b}", err: "yaml: invalid map key: []interface {}{\"a\"}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tree, faults, err := DecodeYAML(thingPlan, []byte(c.in))
			if c.err != "" {
				if err == nil || err.Error() != c.err {
					t.Errorf("got %v, want %s", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := string(AppendAny(nil, tree)); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			var want []string
			if c.fault != "" {
				want = []string{c.fault}
			}
			if got := texts(faults); !reflect.DeepEqual(got, want) {
				t.Errorf("faults %q", got)
			}
		})
	}
}

// bombs returns small bodies that are expensive to expand or parse.
func bombs() map[string]string {
	var laughs strings.Builder
	laughs.WriteString("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n")
	for i := 1; i < 10; i++ {
		fmt.Fprintf(&laughs, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i-1), 10), ","))
	}
	return map[string]string{
		"laughs":        laughs.String(),
		"small laughs":  strings.Join(strings.SplitAfter(laughs.String(), "\n")[:5], ""),
		"long text":     "a: &a " + strings.Repeat("x", 100_000) + "\nspec: {extra: [" + strings.Repeat("*a,", 10_000) + "]}",
		"brackets":      "spec: " + strings.Repeat("[", 200_000),
		"braces":        "spec: " + strings.Repeat("{a: ", 200_000),
		"dashes":        strings.Repeat("- ", 200_000),
		"question mark": strings.Repeat("? ", 200_000),
	}
}

func TestYAMLBombs(t *testing.T) {
	for name, in := range bombs() {
		t.Run(name, func(t *testing.T) {
			_, _, err := DecodeYAML(thingPlan, []byte(in))
			if err == nil || !strings.HasPrefix(err.Error(), "yaml: ") {
				t.Errorf("got %.200v", err)
			}
		})
	}
}

func FuzzDecodeYAML(f *testing.F) {
	for _, seed := range []string{"a: b", "{", "data: {a: b}\n", "- &a *a", "? ", "!!binary x", "a: !!float x", "%YAML 1.1\n---\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) { _, _, _ = DecodeYAML(thingPlan, in) })
}
