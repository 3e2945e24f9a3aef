package selector_test

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/selector"
	"github.com/troupe-api/troupe/kinds/tree"
)

func TestFromLabelSelector(t *testing.T) {
	expression := func(key, op string, values ...any) tree.Tree {
		return tree.Tree{"matchExpressions": []any{tree.Tree{"key": key, "operator": op, "values": values}}}
	}
	labels := selector.LabelsOf(tree.Tree{"tier": "web", "app": "a"})
	for _, c := range []struct {
		name    string
		t       tree.Tree
		ok, all bool
	}{
		{"empty", tree.Tree{}, true, true},
		{"labels", tree.Tree{"matchLabels": tree.Tree{"app": "a", "tier": "web"}}, true, true},
		{"one label differs", tree.Tree{"matchLabels": tree.Tree{"app": "a", "tier": "db"}}, true, false},
		{"In", expression("app", "In", "b", "a"), true, true},
		{"In others", expression("app", "In", "b"), true, false},
		{"NotIn", expression("app", "NotIn", "b"), true, true},
		{"NotIn it", expression("app", "NotIn", "a"), true, false},
		{"Exists", expression("app", "Exists"), true, true},
		{"Exists not", expression("x", "Exists"), true, false},
		{"DoesNotExist", expression("x", "DoesNotExist"), true, true},
		{"DoesNotExist but does", expression("app", "DoesNotExist"), true, false},
		{"unknown operator", expression("app", "Near"), false, true},
	} {
		l, ok := selector.FromLabelSelector(c.t)
		if ok != c.ok || l.Matches(labels) != c.all {
			t.Errorf("%s: %v, matches: %v", c.name, ok, l.Matches(labels))
		}
	}
}
