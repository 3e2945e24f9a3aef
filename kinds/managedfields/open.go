package managedfields

import (
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Custom kinds may allow undeclared fields (schema.Message.Additional). Custom objects are compared
// before validation, so their values may have any type.

// fieldsOf returns the fields of m sorted by name. If m allows undeclared fields, it includes those
// of both trees.
func fieldsOf(m *schema.Message, x, y tree.Tree) []*schema.Field {
	if m.Additional == nil {
		return m.Sorted()
	}
	all, more := m.Sorted(), false
	for i, t := range []tree.Tree{x, y} {
		for name := range t {
			if m.Field(name) != m.Additional || i == 1 && has(x, name) {
				continue
			}
			f := *m.Additional
			f.Name = name
			if !more {
				all, more = slices.Clone(all), true
			}
			all = append(all, &f)
		}
	}
	if more {
		slices.SortFunc(all, func(a, b *schema.Field) int { return strings.Compare(a.Name, b.Name) })
	}
	return all
}

func has(t tree.Tree, name string) bool { _, there := t[name]; return there }

func declares(m *schema.Message, f *schema.Field) bool {
	return m.Additional == nil || m.Field(f.Name) != m.Additional
}

func wrongType(granularity granularity, v any) bool {
	switch v.(type) {
	case tree.Tree:
		return granularity == byItem
	case []any:
		return granularity == byField || granularity == byKey
	}
	return false
}
