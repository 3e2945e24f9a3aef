package api

import (
	"strings"
	"testing"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/troupe-api/troupe/kinds/managedfields"
	"github.com/troupe-api/troupe/kinds/schema"
)

// currentSchema is a type's current schema for structured-merge-diff. topology returns the same
// schema as a schema.Message.
const currentSchema = `types:
- name: object
  map:
    fields:
    - {name: text, type: {scalar: string}}
    - {name: other, type: {scalar: string}}
    - {name: unit, type: {map: {elementType: {scalar: string}, elementRelationship: atomic}}}
    - {name: block, type: {map: {fields: [{name: a, type: {scalar: string}}], elementRelationship: atomic}}}
    - {name: list, type: {list: {elementType: {scalar: string}, elementRelationship: atomic}}}
    - {name: map, type: {map: {elementType: {scalar: string}}}}
    - {name: set, type: {list: {elementType: {scalar: string}, elementRelationship: associative}}}
    - {name: inner, type: {map: {fields: [{name: a, type: {scalar: string}}]}}}
    - name: items
      type:
        list:
          elementRelationship: associative
          keys: [name]
          elementType:
            map:
              fields:
              - {name: name, type: {scalar: string}}
              - {name: args, type: {list: {elementType: {scalar: string}, elementRelationship: atomic}}}
`

func topology() *schema.Message {
	inner := schema.NewMessage("Inner", &schema.Field{Name: "a"})
	item := schema.NewMessage("Item", &schema.Field{Name: "name"}, &schema.Field{Name: "args", Shape: schema.List})
	return schema.NewMessage("Object",
		&schema.Field{Name: "text"}, &schema.Field{Name: "other"},
		&schema.Field{Name: "unit", Shape: schema.Map, MapAtomic: true},
		&schema.Field{Name: "block", Type: schema.TypeMessage, Message: inner, MapAtomic: true},
		&schema.Field{Name: "list", Shape: schema.List},
		&schema.Field{Name: "map", Shape: schema.Map},
		&schema.Field{Name: "set", Shape: schema.List, ListType: schema.ListSet},
		&schema.Field{Name: "inner", Type: schema.TypeMessage, Message: inner},
		&schema.Field{Name: "items", Shape: schema.List, Type: schema.TypeMessage, Message: item, ListType: schema.ListMap, ListMapKeys: []string{"name"}},
	)
}

// TestTopologyChanges checks field sets that were written under an older schema, in which atomic
// fields were granular or vice versa.
func TestTopologyChanges(t *testing.T) {
	t.Parallel()
	parser, err := typed.NewParser(typed.YAMLObject(currentSchema))
	if err != nil {
		t.Fatal(err)
	}
	live, err := parser.Type("object").FromYAML("{text: a}")
	if err != nil {
		t.Fatal(err)
	}
	for _, fields := range []string{
		`{"f:block":{},"f:list":{},"f:text":{},"f:unit":{}}`,
		`{"f:unit":{"f:x":{},"f:y":{}}}`,
		`{"f:unit":{".":{},"f:x":{}}}`,
		`{"f:block":{"f:a":{}}}`,
		`{"f:block":{"f:unknown":{}}}`,
		`{"f:list":{"v:\"a\"":{}},"f:text":{}}`,
		`{"f:list":{"k:{\"name\":\"a\"}":{".":{},"f:x":{}}}}`,
		`{"f:items":{"k:{\"name\":\"a\"}":{".":{},"f:args":{"v:1":{}},"f:name":{}}}}`,
		`{"f:items":{}}`,
		`{"f:inner":{},"f:map":{},"f:set":{}}`,
		`{"f:gone":{"f:x":{}},"f:inner":{".":{},"f:a":{}}}`,
	} {
		theirs := &fieldpath.Set{}
		if err := theirs.FromJSON(strings.NewReader(fields)); err != nil {
			t.Fatal(err)
		}
		if changed, err := typed.ReconcileFieldSetWithSchema(theirs, live); err != nil {
			t.Fatal(err)
		} else if changed != nil {
			theirs = changed
		}
		want, err := theirs.ToJSON()
		if err != nil {
			t.Fatal(err)
		}
		ours, err := managedfields.Parse(fields)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(managedfields.Reconciled(topology(), ours).AppendJSON(nil)); got != string(want) {
			t.Errorf("%s becomes %s, want %s", fields, got, want)
		}
	}
}
