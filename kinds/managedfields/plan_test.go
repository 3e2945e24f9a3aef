package managedfields

import (
	"slices"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

func plan() *schema.Message {
	item := schema.NewMessage("Item",
		&schema.Field{Name: "name"}, &schema.Field{Name: "kind", Default: "K"}, &schema.Field{Name: "value"},
		&schema.Field{Name: "args", Shape: schema.List})
	inner := schema.NewMessage("Inner", &schema.Field{Name: "a"}, &schema.Field{Name: "b", Type: schema.TypeInt64})
	metadata := schema.NewMessage("Meta",
		&schema.Field{Name: "name"}, &schema.Field{Name: "uid"}, &schema.Field{Name: "labels", Shape: schema.Map})
	return schema.NewMessage("Object",
		&schema.Field{Name: "kind"}, &schema.Field{Name: "apiVersion"},
		&schema.Field{Name: "metadata", Type: schema.TypeMessage, Message: metadata},
		&schema.Field{Name: "text"},
		&schema.Field{Name: "map", Shape: schema.Map},
		&schema.Field{Name: "unit", Shape: schema.Map, MapAtomic: true},
		&schema.Field{Name: "inner", Type: schema.TypeMessage, Message: inner},
		&schema.Field{Name: "block", Type: schema.TypeMessage, Message: inner, MapAtomic: true},
		&schema.Field{Name: "list", Shape: schema.List},
		&schema.Field{Name: "set", Shape: schema.List, ListType: schema.ListSet},
		&schema.Field{Name: "items", Shape: schema.List, Type: schema.TypeMessage, Message: item, ListType: schema.ListMap, ListMapKeys: []string{"name", "kind"}},
		&schema.Field{Name: "groups", Shape: schema.Map, Type: schema.TypeMessage, Message: inner},
		&schema.Field{Name: "status", Type: schema.TypeMessage, Message: inner},
	)
}

func parseTree(t testing.TB, text string) tree.Tree {
	t.Helper()
	v, _, err := codec.DecodeAny([]byte(text))
	out, ok := v.(tree.Tree)
	if err != nil || !ok {
		t.Fatalf("%s: %v", text, err)
	}
	return out
}

func set(t testing.TB, text string) Set {
	t.Helper()
	s, err := Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return s
}

func (s Set) text() string { return string(s.AppendJSON(nil)) }

func onlyV1(apiVersion string) (ServedVersion, bool) {
	return ServedVersion{Message: plan()}, apiVersion == "v1"
}

func writerOf(manager string) Writer {
	return Writer{Manager: manager, APIVersion: "v1", Now: "2030-01-01T00:00:00Z"}
}

func formatManagers(managed []any) string {
	var out []string
	for _, v := range managed {
		e := v.(tree.Tree)
		out = append(out, e["manager"].(string)+" "+e["operation"].(string)+" "+e["fieldsV1"].(string))
	}
	slices.Sort(out)
	return strings.Join(out, "; ")
}
