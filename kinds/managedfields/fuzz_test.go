package managedfields

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// FuzzApply applies two configurations to an object with an arbitrary first manager. Inputs must
// not change, and an apply must succeed or conflict. A repeated apply must change nothing, and the
// applier must own its fields.
func FuzzApply(f *testing.F) {
	for _, c := range [][4]string{
		{`{"text":"1"}`, `{"f:text":{}}`, `{"text":"2"}`, `{"text":"2"}`},
		{`{"items":[{"name":"x","value":"1"}]}`, `{"f:items":{"k:{\"kind\":\"K\",\"name\":\"x\"}":{".":{},"f:value":{}}}}`, `{"items":[{"name":"y"}]}`, `{}`},
		{`{"set":["a","b"],"list":["x"]}`, `{"f:set":{"v:\"a\"":{}},"f:list":{}}`, `{"set":["c"]}`, `{"set":["a"],"list":[]}`},
		{`{"unit":{"a":"1"},"block":{"a":"1"}}`, `{"f:unit":{},"f:block":{"f:a":{}}}`, `{"unit":{"b":"1"}}`, `{"block":{"b":2}}`},
		{`{"groups":{"x":{"a":"1"}},"inner":{"b":1}}`, `{"f:groups":{"f:x":{".":{},"f:a":{}}},"i:0":{}}`, `{"groups":{"x":{"b":1},"y":{}}}`, `{"inner":null}`},
	} {
		f.Add(c[0], c[1], c[2], c[3], true)
		f.Add(c[0], c[1], c[2], c[3], false)
	}
	f.Add(`{"inner":{}}`, `0`, `{}`, `0`, false)
	m := plan()
	f.Fuzz(func(t *testing.T, object, fields, first, second string, applied bool) {
		live, ok := wellFormed(m, object)
		if !ok {
			return
		}
		operation := "Update"
		if applied {
			operation = "Apply"
		}
		managed := []any{tree.Tree{"manager": "other", "operation": operation, "apiVersion": "v1", "time": "2029-01-01T00:00:00Z", "fieldsType": "FieldsV1", "fieldsV1": fields}}
		for _, text := range []string{first, second} {
			config, ok := wellFormed(m, text)
			if !ok {
				return
			}
			before, asked := tree.Clone(live), tree.Clone(config)
			next, list, err := Apply(writerOf("fuzz"), onlyV1, live, config, managed, false)
			if err != nil {
				next, list, err = Apply(writerOf("fuzz"), onlyV1, live, config, managed, true)
			}
			if err != nil {
				t.Fatalf("a forced apply is refused: %v", err)
			}
			if !tree.SemanticEqual(before, live) || !tree.SemanticEqual(asked, config) {
				t.Fatal("what went in was changed")
			}
			if next == nil { // the apply changed nothing
				continue
			}
			if len(list) == 0 {
				return // the next apply would add before-first-apply again
			}
			if again, same, err := Apply(writerOf("fuzz"), onlyV1, next, config, list, false); err != nil || again != nil && !(tree.SemanticEqual(again, next) && tree.SemanticEqual(same, list)) {
				t.Fatalf("once more: %v, %v by %s, was %v by %s", err, again, formatManagers(same), next, formatManagers(list))
			}
			live, managed = next, list
		}
	})
}

func wellFormed(m *schema.Message, text string) (tree.Tree, bool) {
	object, faults, err := codec.DecodeJSON(m, []byte(text))
	if err != nil || len(faults) > 0 || CheckConfig(m, object, nil) != "" {
		return nil, false
	}
	return object, true
}
