package jsontext_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/jsontext"
)

func TestDepth(t *testing.T) {
	nested := func(n int) []byte { return []byte(strings.Repeat("[", n) + strings.Repeat("]", n)) }
	for _, c := range []struct {
		limit, depth int
		want         error
	}{
		{0, jsontext.MaxDepth, nil},
		{0, jsontext.MaxDepth + 1, jsontext.ErrDepth},
		{jsontext.MaxFieldSetDepth, jsontext.MaxFieldSetDepth, nil},
		{jsontext.MaxFieldSetDepth, jsontext.MaxFieldSetDepth + 1, jsontext.ErrDepth},
		{jsontext.MaxStoredDepth, jsontext.MaxStoredDepth, nil},
		{jsontext.MaxStoredDepth, jsontext.MaxStoredDepth + 1, jsontext.ErrDepth},
	} {
		s := jsontext.Over(nested(c.depth))
		s.Limit = c.limit
		if err := s.Skip(); !errors.Is(err, c.want) {
			t.Errorf("%d levels of %d: %v", c.depth, c.limit, err)
		}
	}
	s := jsontext.Scanner{Text: "[]", Depth: jsontext.MaxDepth}
	if err := s.Skip(); !errors.Is(err, jsontext.ErrDepth) {
		t.Errorf("a text inside of another: %v", err)
	}
	deep := nested(1_000_000) // skipped without recursion
	if n := jsontext.Value(deep).Length(); n != len(deep) {
		t.Errorf("%d bytes", n)
	}
}

func TestRawKey(t *testing.T) {
	s := jsontext.Over([]byte(`{"a\u0062" : 1 , "" :2} `))
	if err := s.Open(); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{`"a\u0062"`, `""`} {
		key, more, err := s.RawKey(i == 0)
		if key != want || !more || err != nil || s.Skip() != nil {
			t.Errorf("%s, %t, %v", key, more, err)
		}
	}
	if key, more, err := s.RawKey(false); key != "" || more || err != nil || s.End() != nil {
		t.Errorf("%s, %t, %v at the end", key, more, err)
	}
}

// TestAllocations checks that reading strings without escapes allocates nothing.
func TestAllocations(t *testing.T) {
	doc := []byte(`{"metadata":{"name":"a name","labels":{"é":"\"","l":[1,-2.5e7,true,null,{}]}},"status":{"phase":"Running"}}`)
	v := jsontext.Value(doc)
	if n := testing.AllocsPerRun(100, func() {
		if !jsontext.Valid(doc) || !v.At("status.phase").Exists() || v.At("metadata.labels.l").Count() != 5 {
			t.Error("not read")
		}
		s := jsontext.Scanner{Text: `"a plain text with é"`}
		if text, err := s.ReadString(); err != nil || text == "" {
			t.Error(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkScanner(b *testing.B) {
	var doc []byte
	doc = append(doc, '[')
	for i := range 100 {
		doc = append(doc, `{"name":"item-`+strconv.Itoa(i)+`","text":"a \"quoted\" text with some length","list":[1,2.5,true,null,{"é":"ü"}]},`...)
	}
	doc = append(doc, `{}]`...)
	b.Run("skip", func(b *testing.B) {
		b.SetBytes(int64(len(doc)))
		for b.Loop() {
			s := jsontext.Over(doc)
			_ = s.Skip()
		}
	})
	b.Run("length", func(b *testing.B) {
		b.SetBytes(int64(len(doc)))
		for b.Loop() {
			jsontext.Value(doc).Length()
		}
	})
}
