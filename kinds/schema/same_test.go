package schema_test

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

func TestSame(t *testing.T) {
	inner := schema.NewMessage("inner",
		&schema.Field{Name: "flag", Type: schema.TypeBool, Pointer: true},
		&schema.Field{Name: "text", Type: schema.TypeString})
	m := schema.NewMessage("outer",
		&schema.Field{Name: "plain", Type: schema.TypeBool},
		&schema.Field{Name: "pointer", Type: schema.TypeInt32, Pointer: true},
		&schema.Field{Name: "part", Type: schema.TypeMessage, Message: inner},
		&schema.Field{Name: "perhaps", Type: schema.TypeMessage, Message: inner, Pointer: true},
		&schema.Field{Name: "list", Type: schema.TypeMessage, Message: inner, Shape: schema.List},
		&schema.Field{Name: "texts", Type: schema.TypeString, Shape: schema.List},
		&schema.Field{Name: "map", Type: schema.TypeString, Shape: schema.Map},
		&schema.Field{Name: "raw", Type: schema.TypeRaw})
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{`{}`, `{}`, true},
		{`{}`, `{"plain":false,"part":{},"list":[],"texts":[],"map":{}}`, true},
		{`{}`, `{"plain":null,"pointer":null,"perhaps":null,"list":null,"map":null,"raw":null}`, true},
		{`{}`, `{"plain":true}`, false},
		{`{}`, `{"pointer":0}`, false},
		{`{"pointer":0}`, `{"pointer":0}`, true},
		{`{"pointer":1}`, `{"pointer":0}`, false},
		{`{}`, `{"perhaps":{}}`, false},
		{`{"perhaps":{}}`, `{"perhaps":{"text":""}}`, true},
		{`{}`, `{"part":{"text":""}}`, true},
		{`{}`, `{"part":{"flag":false}}`, false},
		{`{"part":{}}`, `{"part":{"flag":false}}`, false},
		{`{"list":[{}]}`, `{"list":[{"text":""}]}`, true},
		{`{"list":[{}]}`, `{"list":[{"flag":false}]}`, false},
		{`{"list":[{}]}`, `{}`, false},
		{`{"texts":["a","b"]}`, `{"texts":["b","a"]}`, false},
		{`{"map":{"a":""}}`, `{}`, false},
		{`{"map":{"a":""}}`, `{"map":{"a":""}}`, true},
		{`{"map":{"a":""}}`, `{"map":{"b":""}}`, false},
		{`{"raw":{"a":false}}`, `{"raw":{}}`, false},
		{`{"raw":{"a":[1]}}`, `{"raw":{"a":[1]}}`, true},
		{`{"list":"x"}`, `{"list":[]}`, false},
		{`{"map":[]}`, `{"map":{}}`, false},
		{`{"part":"x"}`, `{"part":{}}`, false},
		{`{"unknown":0}`, `{}`, true},
		{`{"unknown":1}`, `{}`, false},
	} {
		a, b := parse(t, c.a), parse(t, c.b)
		if m.Same(a, b) != c.want || m.Same(b, a) != c.want {
			t.Errorf("%s and %s: want %v", c.a, c.b, c.want)
		}
	}
}

func parse(t *testing.T, text string) tree.Tree {
	t.Helper()
	v, err := codec.DecodeAnyStored([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v.(tree.Tree)
}
