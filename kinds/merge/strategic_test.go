package merge

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/internal/golden"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

func plan() *schema.Message {
	port := schema.NewMessage("Port", &schema.Field{Name: "port", Type: schema.TypeInt32}, &schema.Field{Name: "x"})
	ref := schema.NewMessage("Ref", &schema.Field{Name: "name"}, &schema.Field{Name: "v"}, &schema.Field{Name: "labels", Shape: schema.Map})
	keyed := func(name, key string, m *schema.Message) *schema.Field {
		return &schema.Field{Name: name, Type: schema.TypeMessage, Shape: schema.List, Message: m, MergeKey: key, MergeStrategies: []string{"merge"}}
	}
	return schema.NewMessage("Test",
		keyed("secrets", "name", ref), keyed("ports", "port", port),
		&schema.Field{Name: "set", Shape: schema.List, MergeStrategies: []string{"merge"}},
		&schema.Field{Name: "args", Shape: schema.List},
		&schema.Field{Name: "atomic", Type: schema.TypeMessage, Message: ref, MergeStrategies: []string{"replace"}},
		&schema.Field{Name: "one", Type: schema.TypeMessage, Message: ref, MergeStrategies: []string{"retainKeys"}},
		&schema.Field{Name: "data", Shape: schema.Map},
	)
}

func TestStrategic(t *testing.T) {
	golden.Run(t, "testdata/strategic.txt", func(given []string) string {
		current := parse(t, given[1]).(tree.Tree)
		before := text(t, current)
		got, err := Strategic(plan(), current, parse(t, given[2]).(tree.Tree))
		if text(t, current) != before {
			t.Fatalf("%s: current has changed", given[0])
		}
		return result(t, got, err)
	})
}
