package ownership

import (
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Custom kinds may leave open what fields an object has (schema.Message.Additional), and their objects
// are looked at before they are validated.

// fieldsOf are the fields of m by name, and if m is open also those that only the trees have.
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

// declares tells whether the plan names a field, which is one of fieldsOf.
func declares(m *schema.Message, f *schema.Field) bool {
	return m.Additional == nil || m.Field(f.Name) != m.Additional
}

// wrongType tells whether a value is of another type than the plan says: an object instead of a list, or
// the other way round.
func wrongType(granularity granularity, v any) bool {
	switch v.(type) {
	case tree.Tree:
		return granularity == byItem
	case []any:
		return granularity == byField || granularity == byKey
	}
	return false
}
