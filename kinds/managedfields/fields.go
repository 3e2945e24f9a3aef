package managedfields

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// fields returns the paths of all leaves, list items and empty objects in a tree of message m. For
// {"spec":{"replicas":1,"args":[]}}, where args is atomic, these are spec.replicas and spec.args,
// but not spec.
func fields(m *schema.Message, t tree.Tree, s excludedFields) Set {
	var b builder
	for _, f := range fieldsOf(m, t, nil) {
		v := t[f.Name]
		switch {
		case v == nil || s.excludesField(f.Name):
		case f.Name == "metadata":
			metadata, _ := v.(tree.Tree)
			b.add(fieldElement(f.Name), false, metadataFields(f.Message, metadata, s))
		default:
			member, below := valueFields(f, false, v)
			b.add(fieldElement(f.Name), member || !declares(m, f), below)
		}
	}
	return b.set()
}

func metadataFields(m *schema.Message, t tree.Tree, s excludedFields) Set {
	var b builder
	for _, f := range m.Sorted() {
		if v := t[f.Name]; v != nil && !s.excludesMetadata(f.Name) {
			member, below := valueFields(f, false, v)
			b.add(fieldElement(f.Name), member, below)
		}
	}
	return b.set()
}

// valueFields returns the paths that a manager of the value v owns. member is true if the manager
// owns the path of v itself, and below contains the paths below v. Atomic values, scalars, nulls
// and objects without fields are leaves. A granular list contributes only its items' paths.
func valueFields(f *schema.Field, element bool, v any) (member bool, below Set) {
	granularity := granularityOf(f, element)
	object, isTree := v.(tree.Tree)
	switch {
	case v == null{}, v == emptied{}:
		return true, Set{}
	case granularity == byItem:
		return false, itemFields(f, v)
	case granularity == atomic || !isTree || len(object) == 0:
		return true, Set{}
	case granularity == byField:
		return false, messageFields(f.Message, object)
	}
	var b builder
	for _, key := range object.SortedKeys() {
		_, below := valueFields(f, true, object[key])
		// Map keys are user data, so the key's own path is owned too.
		b.add(fieldElement(key), true, below)
	}
	return false, b.set()
}

func messageFields(m *schema.Message, t tree.Tree) Set {
	var b builder
	for _, f := range fieldsOf(m, t, nil) {
		if v := t[f.Name]; v != nil {
			member, below := valueFields(f, false, v)
			b.add(fieldElement(f.Name), member || !declares(m, f), below)
		}
	}
	return b.set()
}

func itemFields(f *schema.Field, v any) Set {
	list, _ := v.([]any)
	b := builder{duplicateIsLeaf: true}
	for _, item := range list {
		at := itemElement(f, item)
		_, below := valueFields(f, true, item)
		b.add(at, true, below)
	}
	return b.set()
}

// An elementSet detects duplicate path elements. It searches short lists, the common case,
// linearly.
type elementSet struct {
	small []pathElement
	large map[pathElement]bool // replaces small for long lists
}

// linearSearchLimit is the list length up to which linear search is faster than a map.
const linearSearchLimit = 32

func newElementSet(n int) *elementSet {
	if n > linearSearchLimit {
		return &elementSet{large: make(map[pathElement]bool, n)}
	}
	return &elementSet{small: make([]pathElement, 0, n)}
}

func (s *elementSet) add(at pathElement) bool {
	if s.large != nil {
		if s.large[at] {
			return false
		}
		s.large[at] = true
		return true
	}
	if slices.Contains(s.small, at) {
		return false
	}
	s.small = append(s.small, at)
	return true
}
