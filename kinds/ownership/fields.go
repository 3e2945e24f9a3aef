package ownership

import (
	"fmt"
	"slices"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// fields is the set of the paths that a tree of message m has a value for: the leaves, items of
// lists, and empty objects.
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

// valueFields tells whether the path of v itself is in the set, and what is below it.
func valueFields(f *schema.Field, element bool, v any) (member bool, below Set) {
	granularity := granularityOf(f, element)
	object, isTree := v.(tree.Tree)
	switch {
	case v == null{}:
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
		// A key that no plan names is in the set beside what is below it.
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

// itemFields are the items of a list, each with what is below it, unless it is there twice.
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

// CheckItems finds the first list in an object that has an item twice, or an item without
// a key: such an object cannot be applied. The text names the place, as in
// `.spec.containers: duplicate entries for key [name="c"]`; "" if there is none.
func CheckItems(m *schema.Message, t tree.Tree) string {
	if f := checkMessage(m, t); f != nil {
		return f.path + ": " + f.text
	}
	return ""
}

// An itemFault is what is wrong with a list. Its path grows on the way out.
type itemFault struct{ path, text string }

// under is the fault as it is seen from one level up.
func (f *itemFault) under(segment string) *itemFault {
	f.path = segment + f.path
	return f
}

func checkMessage(m *schema.Message, t tree.Tree) *itemFault {
	for _, f := range compositeFields(m, t) {
		if v := t[f.Name]; v != nil {
			if fault := checkValue(f, false, v); fault != nil {
				return fault.under("." + f.Name)
			}
		}
	}
	return nil
}

func checkValue(f *schema.Field, element bool, v any) *itemFault {
	switch granularityOf(f, element) {
	case byField:
		if object, ok := v.(tree.Tree); ok {
			return checkMessage(f.Message, object)
		}
	case byKey:
		if object, ok := v.(tree.Tree); ok && granularityOf(f, true) != atomic {
			for _, key := range object.SortedKeys() {
				if fault := checkValue(f, true, object[key]); fault != nil {
					return fault.under("." + key)
				}
			}
		}
	case byItem:
		return checkList(f, v)
	}
	return nil
}

func checkList(f *schema.Field, v any) *itemFault {
	list, _ := v.([]any)
	seen := newElementSet(len(list))
	steps := itemElements(f, list)
	for i, item := range list {
		if missing := missingKey(f, item); missing != "" {
			return &itemFault{text: fmt.Sprintf("element %d: associative list with keys has an element that omits key field %q (and doesn't have default value)", i, missing)}
		}
		if !seen.add(steps[i]) {
			return &itemFault{text: "duplicate entries for key " + steps[i].String()}
		}
		if fault := checkValue(f, true, item); fault != nil {
			return fault.under(steps[i].String())
		}
	}
	return nil
}

// elementSet are the steps of one list, each once.
type elementSet struct {
	small []pathElement
	large map[pathElement]bool // instead of few, for a list whose length would be felt
}

// linearSearchLimit is how many items are looked through one by one.
const linearSearchLimit = 32

func newElementSet(n int) *elementSet {
	if n > linearSearchLimit {
		return &elementSet{large: make(map[pathElement]bool, n)}
	}
	return &elementSet{small: make([]pathElement, 0, n)}
}

// add tells whether a step is new.
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
