package jsontext_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/jsontext"
)

var documents = []string{
	``, ` `, `{}`, `[]`, `""`, `null`, `true`, `false`, ` nul`, `tru`, `truee`, `{`, `[`, `}`, `]`, `"`, `{"`, `{"a`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `[1,`, `[1 2]`,
	`{"a":1,}`, `[1,]`, `{,}`, `{"a" 1}`, `{a:1}`, `{'a':1}`, `{1:1}`, `{"a":1 "b":2}`, `[}`, `{]`, `{} {}`, `1 2`, "\t[ 1 ,\r\n 2 ] ", "\ufeff{}", "{}\x00", "[\x00]", "\v1",
	`0`, `-0`, `-0.0`, `-`, `+1`, `01`, `-01`, `1.`, `.5`, `1.5e`, `1e+`, `1E-07`, `-1.5E+7`, `1e999`, `9223372036854775808`, `123456789012345678901234567890`, `0x1`, `1_0`, `NaN`, `Infinity`,
	`"\"\\\/\b\f\n\r\t"`, `"\u0041\u00e9\u20ac"`, `"\ud83d\ude00"`, `"\ud83d"`, `"\ude00"`, `"\ud83dx"`, `"\ud83d\n"`, `"\ud83d\u0041"`, `"\ud83d\ud83d\ude00"`, `"\uD83D\uDE00"`,
	`"\u12"`, `"\u12g4"`, `"\ud83d\u12"`, `"\ud83d\`, `"\x"`, `"\`, `"\u`, "\"\x01\"", "\"\x1f\"", "\"\x7f\"", "\"a\nb\"", "\"\x80\"", "\"\xff\xfe\"", "\"\xed\xa0\x80\"", "\"\xf0\x9f\x98\"", "\"12345678\xc3\"", "\"é€😀\"", "\"\u2028\u2029\"",
	`{"a":1,"a":2}`, `{"a":{},"a":[]}`, `{"\u0061":1,"a":2}`, `{"":0}`, "{\"\xa3\":0}", `{"a.b":{"c":[{"d":null}]}}`, `{"s":"}]\",{[","t":["\\","\\\\"],"u":"\\\""}`,
	`{"0":0,"1":1,"2":2,"3":3,"4":4,"5":5,"6":6,"7":7,"8":8,"9":9,"a":10,"b":11,"c":{"c":12},"d":13,"e":14,"f":15,"g":{"c":16},"h":17}`,
	`[[[[[[1]]]]],{"a":[{}]},[],"",[""]]`, `{"12345678":"12345678","1234567\"8":"123\\4567\u00008"}`,
}

// FuzzScanner checks that a Scanner accepts the same input, reads the same values and returns the
// same errors as encoding/json.
func FuzzScanner(f *testing.F) {
	for _, doc := range documents {
		f.Add([]byte(doc))
	}
	f.Fuzz(checkScanner)
}

func TestScanner(t *testing.T) {
	for _, doc := range documents {
		checkScanner(t, []byte(doc))
	}
}

func checkScanner(t *testing.T, doc []byte) {
	want, wantErr := decode(doc)
	s := jsontext.Over(doc)
	s.Limit = jsontext.MaxStoredDepth
	have, err := read(&s)
	if err == nil {
		err = s.End()
	}
	if wantErr != nil {
		// If the input ends inside a number, literal or escape, encoding/json reports an invalid
		// space.
		cut := errors.Is(err, jsontext.ErrEnd) && strings.Contains(wantErr.Error(), "invalid character ' '")
		if err == nil || err.Error() != wantErr.Error() && !cut && !errors.Is(err, jsontext.ErrDepth) {
			t.Fatalf("%q: %v, want %v", doc, err, wantErr)
		}
	} else if err != nil || !reflect.DeepEqual(have, want) {
		t.Fatalf("%q: %#v, %v, want %#v", doc, have, err, want)
	}
	if jsontext.Valid(doc) != (wantErr == nil) {
		t.Fatalf("%q: valid is %t", doc, jsontext.Valid(doc))
	}
	skip := jsontext.Over(doc)
	skip.Limit = jsontext.MaxStoredDepth
	skipErr := skip.Skip()
	if skipErr == nil {
		skipErr = skip.End()
	}
	if (err == nil) != (skipErr == nil) || err != nil && err.Error() != skipErr.Error() || err == nil && skip != s {
		t.Fatalf("%q: skipped to %+v with %v, read to %+v with %v", doc, skip, skipErr, s, err)
	}
}

// FuzzValue checks that Value and encoding/json read the same values. Invalid JSON must cause
// neither a panic nor a read beyond its end.
func FuzzValue(f *testing.F) {
	for _, doc := range documents {
		f.Add([]byte(doc))
	}
	f.Fuzz(checkValue)
}

func TestValue(t *testing.T) {
	for _, doc := range documents {
		checkValue(t, []byte(doc))
	}
}

func checkValue(t *testing.T, doc []byte) {
	doc = bytes.TrimSpace(doc)
	v := jsontext.Value(doc)
	have := build(v, 0)
	if n := v.Length(); n < 0 || n > len(doc) {
		t.Fatalf("%q has a value of %d bytes", doc, n)
	}
	want, err := decode(doc)
	if err != nil {
		return
	}
	if !reflect.DeepEqual(have, want) {
		t.Fatalf("%q: %#v, want %#v", doc, have, want)
	}
	for _, tail := range []string{"", ",", "}", "]", " ", ":"} {
		if n := append(bytes.Clone(doc), tail...); jsontext.Value(n).Length() != len(doc) {
			t.Fatalf("%q in %q: %d bytes", doc, n, jsontext.Value(n).Length())
		}
	}
	switch want := want.(type) {
	case map[string]any:
		checkObject(t, v)
		for _, key := range v.Keys() {
			if _, ok := want[replaceBytes(key)]; !ok {
				t.Fatalf("%q has no %q", doc, key)
			}
		}
	case []any:
		if v.Count() != len(want) {
			t.Fatalf("%q: %d items", doc, v.Count())
		}
	case bool:
		if v.IsTrue() != want {
			t.Fatalf("%q is %t", doc, v.IsTrue())
		}
	case nil:
		if v.Exists() {
			t.Fatalf("%q exists", doc)
		}
	}
}

// FuzzAppendString checks that strings are encoded as by encoding/json and survive a round trip.
func FuzzAppendString(f *testing.F) {
	for _, text := range []string{"", "a", "\x00\x1f\x7f\"\\/\b\f\n\r\t", "<&>", "\u2028\u2029\u202a", "é€😀", "12345678\xff12345678", "\xed\xa0\x80", "1234567\x80"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		want, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		have := jsontext.AppendString([]byte("before"), text)[len("before"):]
		if !bytes.Equal(have, want) {
			t.Fatalf("%q: %s, want %s", text, have, want)
		}
		s := jsontext.Over(have)
		read, err := s.ReadString()
		if err != nil || read != replaceBytes(text) {
			t.Fatalf("%q became %s and that %q, %v", text, have, read, err)
		}
		for i := jsontext.SafeEnd(text, 0); i > 0; i = 0 {
			if string(jsontext.AppendEscaped(nil, text[:i])) != text[:i] {
				t.Fatalf("%q is escaped", text[:i])
			}
		}
	})
}

func replaceBytes(text string) string { return string([]rune(text)) }

func decode(doc []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	var syntax *json.SyntaxError
	if err = json.Unmarshal(doc, new(json.RawMessage)); errors.As(err, &syntax) {
		return nil, err
	}
	if err = d.Decode(&v); err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = more
		}
	}
	return v, err
}

func read(s *jsontext.Scanner) (any, error) {
	switch c := s.Peek(); {
	case c == '{':
		object := map[string]any{}
		if err := s.Open(); err != nil {
			return nil, err
		}
		for first := true; ; first = false {
			key, more, err := s.Key(first)
			if err != nil || !more {
				return object, err
			}
			if object[key], err = read(s); err != nil {
				return nil, err
			}
		}
	case c == '[':
		list := []any{}
		if err := s.Open(); err != nil {
			return nil, err
		}
		for first := true; ; first = false {
			more, err := s.Element(first)
			if err != nil || !more {
				return list, err
			}
			v, err := read(s)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
	case c == '"':
		return s.ReadString()
	case c == '-' || jsontext.IsDigit(c):
		number, err := s.ReadNumber()
		return json.Number(number), err
	case c == 't' || c == 'f':
		return c == 't', s.Skip()
	}
	return nil, s.Skip()
}

func checkObject(t *testing.T, v jsontext.Value) {
	var names []string
	v.Fields(func(key, _ jsontext.Value) bool {
		names = append(names, string(key[1:len(key)-1]))
		return true
	})
	var o jsontext.Object
	// Start lookups at the first member, in the middle, or with an absent name.
	for _, from := range []int{0, len(names) / 2, len(names)} {
		o.Reset(v)
		for i := range len(names) + 1 {
			name := "absent"
			if at := (from + i) % (len(names) + 1); at < len(names) {
				name = names[at]
			}
			if have, want := o.Field(name), v.Field(name); string(have) != string(want) || (have == nil) != (want == nil) {
				t.Fatalf("%q has %q at %q, want %q", v, have, name, want)
			}
			if have, want := o.At(name+".c"), v.At(name+".c"); string(have) != string(want) {
				t.Fatalf("%q has %q at %q, want %q", v, have, name+".c", want)
			}
		}
	}
	if string(o.At("")) != string(v) || string(o.Text()) != string(v) {
		t.Fatalf("%q has another text", v)
	}
}

// build decodes JSON with Value. The last of duplicate members wins, as in encoding/json.
func build(v jsontext.Value, depth int) any {
	if len(v) == 0 || depth > 1000 {
		return nil
	}
	switch v[0] {
	case '{':
		object := map[string]any{}
		v.Fields(func(key, w jsontext.Value) bool {
			object[replaceBytes(key.Text())] = build(w, depth+1)
			return true
		})
		return object
	case '[':
		list := []any{}
		v.Items(func(w jsontext.Value) bool {
			list = append(list, build(w, depth+1))
			return true
		})
		return list
	case '"':
		return replaceBytes(v.Text())
	case 't', 'f':
		return v.IsTrue()
	case 'n':
		return nil
	}
	return json.Number(v)
}

func TestFieldAndAt(t *testing.T) {
	v := jsontext.Value(`{"a":{"b":{"c":"x"},"n":null,"i":-7,"big":9223372036854775808,"f":1.5,"t":true},"a.b":1,"l":[1,[2],{"c":3}],"e":"a\"\u00e9\ud83d\ude00","\u0061\u0062":1}`)
	for path, want := range map[string]string{
		"": string(v), "a.b.c": `"x"`, "a.b": `{"c":"x"}`, "a.none": "", "a.b.c.d": "", "none.b": "", "l.c": "", "ab": "", "a.n": "null", "l": `[1,[2],{"c":3}]`,
	} {
		if got := string(v.At(path)); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	a := v.Field("a")
	if a.Field("i").Int() != -7 || a.Field("big").Int() != 0 || a.Field("f").Int() != 0 || a.Field("none").Int() != 0 {
		t.Error("Int")
	}
	if !a.Field("t").IsTrue() || a.Field("i").IsTrue() || a.Field("n").Exists() || !a.Field("i").Exists() || a.Field("none").Exists() {
		t.Error("IsTrue or Exists")
	}
	if got := v.Field("e").Text(); got != "a\"é😀" || a.Text() != "" || a.Field("n").Text() != "" {
		t.Errorf("Text: %q", got)
	}
	if v.Field("l").Count() != 3 || a.Count() != 6 || a.Field("i").Count() != 0 {
		t.Error("Count")
	}
	if string(jsontext.Value(`{"a":1,"a":2}`).Field("a")) != "1" {
		t.Error("Field is not the first of two")
	}
}
