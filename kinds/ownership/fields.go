package ownership

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// fields is the set of the paths that a tree of message m has a value for: leaves, items of lists, and
// empty objects.
//
// For {"spec":{"replicas":1,"args":[]}}, where args is an atomic list, it has the paths spec.replicas and
// spec.args, but not spec, which is there only because of what is in it.
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

// metadataFields is messageFields for the metadata, without the fields that have no owner.
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

// valueFields tells whether the path of v itself is in the set, and what is below it.
//
// An atomic value is a leaf whatever it holds, and so are a scalar, a null, and an object without fields. A
// list that is divided has paths for its items only, and none of its own.
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
		// A key of a map is data of the user, so having it is owned beside what it holds.
		b.add(fieldElement(key), true, below)
	}
	return false, b.set()
}

// messageFields are the fields of a message that have a value, with what is below them.
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

// itemFields are the items of a list, each with what is below it, except for items with the same keys.
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

// An elementSet tells whether a list has had a path element before. Short lists, which most are, are
// searched one by one instead of in a map.
type elementSet struct {
	small []pathElement
	large map[pathElement]bool // instead of small, for long lists
}

// linearSearchLimit is the length of lists up to which a linear search is faster than a map.
const linearSearchLimit = 32

func newElementSet(n int) *elementSet {
	if n > linearSearchLimit {
		return &elementSet{large: make(map[pathElement]bool, n)}
	}
	return &elementSet{small: make([]pathElement, 0, n)}
}

// add tells whether a path element is new.
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
