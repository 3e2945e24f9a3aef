package codec

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// unionPlan returns a message with two unions: an object or a list, and an object or a bool.
func unionPlan() *schema.Message {
	inner := schema.NewMessage("x.v1.Inner", field("text", schema.TypeString, 1))
	union := func(name string, wire int32, parts ...*schema.Field) *schema.Field {
		f := pointer(field(name, schema.TypeRaw, wire))
		f.Message = schema.NewMessage("x.v1."+name, parts...)
		return f
	}
	return schema.NewMessage("x.v1.Outer",
		union("items", 1, pointer(of(field("one", 0, 1), inner)), of(list("many", 0, 2), inner)),
		union("more", 2, field("on", schema.TypeBool, 1), pointer(of(field("one", 0, 2), inner))),
		mapOf("extra", schema.TypeStrings, 3),
	)
}

func TestUnions(t *testing.T) {
	m := unionPlan()
	tests := []struct {
		json, wire string
		tree       tree.Tree
	}{
		{`{"items":{"text":"a"}}`, "0a050a030a0161", tree.Tree{"items": tree.Tree{"text": "a"}}},
		{`{"items":[{"text":"a"}]}`, "0a0512030a0161", tree.Tree{"items": []any{tree.Tree{"text": "a"}}}},
		{`{"more":true}`, "12020801", tree.Tree{"more": true}},
		{`{"more":false}`, "12020800", tree.Tree{"more": false}},
		{`{"more":{"text":"a"}}`, "1207080112030a0161", tree.Tree{"more": tree.Tree{"text": "a"}}},
		{`{"extra":{"k":["a","b"]}}`, "1a0b0a016b12060a01610a0162", tree.Tree{"extra": tree.Tree{"k": []any{"a", "b"}}}},
	}
	for _, test := range tests {
		object, faults, err := DecodeJSON(m, []byte(test.json))
		if err != nil || faults != nil || !reflect.DeepEqual(object, test.tree) {
			t.Errorf("%s: got %v, %v, %v", test.json, object, faults, err)
		}
		wire := inProtobuf(t, m, test.json)
		if got := fmt.Sprintf("%x", wire); got != test.wire {
			t.Errorf("%s: on the wire %s, want %s", test.json, got, test.wire)
		}
		back, _, err := DecodeProtobuf(m, wire)
		if err != nil || !reflect.DeepEqual(back, test.tree) {
			t.Errorf("%s: read back %v, %v", test.json, back, err)
		}
		e := encoder{}
		if e.message(m, object); string(e.b) != test.json {
			t.Errorf("got %s, want %s", e.b, test.json)
		}
	}
}

func TestUnionsRefuse(t *testing.T) {
	m := unionPlan()
	for _, text := range []string{`{"items":true}`, `{"items":"a"}`, `{"more":[]}`, `{"extra":{"k":"a"}}`, `{"extra":{"k":[1]}}`} {
		if tree, _, err := DecodeJSON(m, []byte(text)); err == nil {
			t.Errorf("%s is read as %v", text, tree)
		}
	}
	if _, faults, err := DecodeJSON(m, []byte(`{"items":{"nope":1}}`)); err != nil || len(faults) != 1 {
		t.Errorf("got %v, %v, want one unknown field", faults, err)
	}
}
