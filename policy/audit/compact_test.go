package audit

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
	"unicode"
)

func FuzzCompactJSON(f *testing.F) {
	for _, doc := range []string{
		`{}`, `[]`, `""`, ` null `, `-1.5E+7`, `{"a":{"b":[1,[2],{"c":"d"}]},"e":""}`, "[\n1\t,\r2 ]", `"\"\\\/\u0000\u2028"`,
		"\"\x7f\u2028\u202e\u00e9\U000e0001\"", `{"a":1,"a":2}`, `{"metadata":{"managedFields":[{"a":"}]"}],"name":"x"},"items":[]}`,
		`1e999`, `{"items":[{"metadata":{"managedFields":[]}},null,1]}`, `{"rows":[{"object":{"metadata":{"managedFields":null}}}]}`, `{"\\":"\\"}`, `{"a`, `[1,`, `{"a":1}}`,
	} {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		got := appendCompactJSON([]byte("before"), doc, false)[len("before"):]
		if !json.Valid(doc) {
			if string(got) != "null" {
				t.Fatalf("%q became %q", doc, got)
			}
			return
		}
		have, err := decode(got)
		if err != nil {
			t.Fatalf("%q became %q: %v", doc, got, err)
		}
		if want, err := decode(doc); err != nil || !reflect.DeepEqual(have, want) {
			t.Fatalf("%q became %q: %v", doc, got, err)
		}
		for _, r := range string(got) {
			if !unicode.IsPrint(r) {
				t.Fatalf("%q holds %q", got, r)
			}
		}
		if omitted := appendCompactJSON(nil, doc, true); !json.Valid(omitted) || bytes.Count(omitted, []byte("managedFields")) > bytes.Count(got, []byte("managedFields")) {
			t.Fatalf("%q became %q", doc, omitted)
		}
	})
}

// decode keeps numbers as text, because some do not fit into a float64.
func decode(doc []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	err = d.Decode(&v)
	return v, err
}
