package schema_test

import (
	"fmt"
	"testing"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

func TestChanges(t *testing.T) {
	text := func(name string) *schema.Field { return &schema.Field{Name: name, Type: schema.TypeString} }
	item := schema.NewMessage("Item", text("name"), text("image"))
	m := schema.NewMessage("Spec", text("host"),
		&schema.Field{Name: "one", Type: schema.TypeMessage, Message: item, Pointer: true},
		&schema.Field{Name: "items", Type: schema.TypeMessage, Message: item, Shape: schema.List},
		&schema.Field{Name: "labels", Type: schema.TypeString, Shape: schema.Map})
	items := func(images ...any) (list []any) {
		for _, image := range images {
			list = append(list, tree.Tree{"name": "a", "image": image})
		}
		return list
	}
	many, wide := tree.Tree{}, []*schema.Field{}
	for i := range maxShown + 1 {
		name := fmt.Sprintf("f%02d", i)
		many[name], wide = "secret", append(wide, text(name))
	}
	for _, c := range []struct {
		m        *schema.Message
		was, now tree.Tree
		want     string
	}{
		{m, tree.Tree{"host": "secret"}, tree.Tree{}, "spec.host"},
		{m, tree.Tree{"host": ""}, tree.Tree{"labels": tree.Tree{"a": "secret"}}, "spec.labels"},
		{m, tree.Tree{"one": tree.Tree{"name": "a"}}, tree.Tree{"one": tree.Tree{"name": "b", "image": "i"}}, "spec.one.image, spec.one.name"},
		{m, tree.Tree{"one": tree.Tree{"name": "a"}}, tree.Tree{}, "spec.one"},
		{m, tree.Tree{"items": items("i", "j")}, tree.Tree{"items": items("i", "k")}, "spec.items[1].image"},
		{m, tree.Tree{"items": items("i", "j")}, tree.Tree{"items": items("i")}, "spec.items"},
		{schema.NewMessage("Wide", wide...), many, tree.Tree{}, "spec.f00, spec.f01, spec.f02, spec.f03, spec.f04, spec.f05, spec.f06, spec.f07, spec.f08, spec.f09, …"},
	} {
		if got := c.m.Changes(c.was, c.now, "spec"); got != "\nchanged: "+c.want {
			t.Errorf("%v to %v: %q, want %s", c.was, c.now, got, c.want)
		}
	}
}

const maxShown = 10 // number of changes
