package catalog_test

import (
	"slices"
	"testing"

	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

func TestUnenforced(t *testing.T) {
	const text = "this server stores the object and does not enforce it: nothing happens"
	own := schema.Rules{Warn: func(obj, _ tree.Tree) []string { return []string{"own"} }}
	remote := func(obj tree.Tree) bool { return obj.Has("remote") }
	for name, c := range map[string]struct {
		rules schema.Rules
		obj   tree.Tree
		want  []string
	}{
		"always":      {family.Unenforced(schema.Rules{}, "nothing happens"), nil, []string{text}},
		"after own":   {family.Unenforced(own, "nothing happens"), nil, []string{"own", text}},
		"where":       {family.UnenforcedWhere(own, remote, "nothing happens"), tree.Tree{"remote": true}, []string{"own", text}},
		"where it is": {family.UnenforcedWhere(own, remote, "nothing happens"), tree.Tree{}, []string{"own"}},
	} {
		if got := c.rules.Warn(c.obj, nil); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}
