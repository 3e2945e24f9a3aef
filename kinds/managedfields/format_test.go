package managedfields

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		`{}`:                          `{}`,
		" {\n\"f:a\" : { } }":         `{"f:a":{}}`,
		`{"f:b":{},"f:a":{}}`:         `{"f:a":{},"f:b":{}}`,
		`{"f:a":{".":{}}}`:            `{"f:a":{}}`,
		`{"f:a":{},"f:a":{"f:b":{}}}`: `{"f:a":{".":{},"f:b":{}}}`,
		`{"f:":{}}`:                   `{"f:":{}}`,
		`{"f:a\"b\\\u00e9":{}}`:       `{"f:a\"b\\é":{}}`,
		`{"f:<&>":{}}`:                `{"f:\u003c\u0026\u003e":{}}`,
		// Path elements are normalized.
		`{"f:l":{"k:{\"b\": 1, \"a\":\"x\"}":{}}}`: `{"f:l":{"k:{\"a\":\"x\",\"b\":1}":{}}}`,
		`{"f:l":{"k:{\"a\":\"b\\\"c\"}":{}}}`:      `{"f:l":{"k:{\"a\":\"b\\\"c\"}":{}}}`,
		`{"f:l":{"v: 1":{},"v:\"\\u0061\"":{}}}`:   `{"f:l":{"v:\"a\"":{},"v:1":{}}}`,
		`{"f:l":{"v:true":{},"v:-1":{}}}`:          `{"f:l":{"v:-1":{},"v:true":{}}}`,
		`{"f:l":{"i:07":{}}}`:                      `{"f:l":{"i:7":{}}}`,
		// Unknown path elements are ignored.
		`{"x:a":{"f:b":{}},"f:c":{}}`: `{"f:c":{}}`,
	} {
		if s, err := Parse(text); err != nil || s.text() != want {
			t.Errorf("%s: %s, %v, want %s", text, s.text(), err, want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, text := range []string{
		``, `null`, `[]`, `3`, `{`, `{"f:a"}`, `{"f:a":}`, `{"f:a":{}`, `{"f:a":{}}}`, `{"f:a":3}`, `{"f:a":null}`, `{"f:a":{},}`, `{f:a:{}}`,
		`{"":{}}`, `{"f":{}}`, `{"fa":{}}`, `{"k:":{}}`, `{"k:[]":{}}`, `{"k:{":{}}`, `{"v:":{}}`, `{"v:x":{}}`, `{"i:x":{}}`, `{"i:":{}}`,
		`{"f:a\`, `{"f:a\"`, `{"f:\q":{}}`, strings.Repeat(`{"f:a":`, 600) + "{}" + strings.Repeat("}", 600),
	} {
		if s, err := Parse(text); err == nil {
			t.Errorf("%s is %s", text, s.text())
		}
	}
}

func TestCanonicalKeys(t *testing.T) {
	for text, want := range map[string]bool{
		`{"a":"b"}`: true, `{"a":1,"b":"x"}`: true, `{"a":0}`: true, `{"b":1,"a":1}`: false, `{"a":1,"a":2}`: false, `{"a": 1}`: false,
		`{"a":01}`: false, `{"a":-1}`: false, `{}`: false, `{"a":1`: false, `{"a":1}x`: false, `{"a":"\n"}`: false, `{"a":"x\"y"}`: false, `{"a":}`: false, ``: false, `{`: false,
	} {
		if got := canonicalKeys(text); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{
		`{"f:data":{".":{},"f:x":{}}}`, `{"f:l":{"k:{\"a\":1,\"b\":\"x\"}":{".":{},"f:i":{}}}}`, `{"f:s":{"v:\"x\"":{},"v:1.5":{}}}`, `{"i:0":{},"x:y":{}}`, "{\"f:\x8e\":{}}",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse(s.text())
		if err != nil || !Equal(s, again) || again.text() != s.text() {
			t.Fatalf("%q is %s, and that %s, %v", text, s.text(), again.text(), err)
		}
		if u := Union(s, again); !Equal(u, s) || !Difference(s, again).Empty() || !Equal(Intersection(s, again), s) {
			t.Fatalf("%q: its union, difference and intersection with itself are wrong", text)
		}
		s.Paths()
	})
}
