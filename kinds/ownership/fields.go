package ownership

import (
	"fmt"
	"slices"

	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// fields is the set of the paths that a tree of message m has a value for: the leaves, items of
// lists, and empty objects.
func fields(m *schema.Message, t schema.Tree, s skip) Set {
	var b builder
	for _, f := range fieldsOf(m, t, nil) {
		v := t[f.Name]
		switch {
		case v == nil || s.root(f.Name):
		case f.Name == "metadata":
			metadata, _ := v.(schema.Tree)
			b.add(fieldStep(f.Name), false, metadataFields(f.Message, metadata, s))
		default:
			member, below := valueFields(f, false, v)
			b.add(fieldStep(f.Name), member || !declares(m, f), below)
		}
	}
	return b.set()
}

func metadataFields(m *schema.Message, t schema.Tree, s skip) Set {
	var b builder
	for _, f := range m.Sorted() {
		if v := t[f.Name]; v != nil && !s.head(f.Name) {
			member, below := valueFields(f, false, v)
			b.add(fieldStep(f.Name), member, below)
		}
	}
	return b.set()
}

// valueFields tells whether the path of v itself is in the set, and what is below it.
func valueFields(f *schema.Field, element bool, v any) (member bool, below Set) {
	relation := relationOf(f, element)
	tree, isTree := v.(schema.Tree)
	switch {
	case v == null{}:
		return true, Set{}
	case relation == items:
		return false, itemFields(f, v)
	case relation == whole || !isTree || len(tree) == 0:
		return true, Set{}
	case relation == message:
		return false, messageFields(f.Message, tree)
	}
	var b builder
	for _, key := range rules.Keys(tree) {
		_, below := valueFields(f, true, tree[key])
		// A key that no plan names is in the set beside what is below it.
		b.add(fieldStep(key), true, below)
	}
	return false, b.set()
}

func messageFields(m *schema.Message, t schema.Tree) Set {
	var b builder
	for _, f := range fieldsOf(m, t, nil) {
		if v := t[f.Name]; v != nil {
			member, below := valueFields(f, false, v)
			b.add(fieldStep(f.Name), member || !declares(m, f), below)
		}
	}
	return b.set()
}

// itemFields are the items of a list, each with what is below it, unless it is there twice.
func itemFields(f *schema.Field, v any) Set {
	list, _ := v.([]any)
	b := builder{whole: true}
	for _, item := range list {
		at := itemStep(f, item)
		_, below := valueFields(f, true, item)
		b.add(at, true, below)
	}
	return b.set()
}

// CheckItems finds the first list in an object that has an item twice, or an item without
// a key: such an object cannot be applied. The text names the place, as in
// `.spec.containers: duplicate entries for key [name="c"]`; "" if there is none.
func CheckItems(m *schema.Message, t schema.Tree) string {
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

func checkMessage(m *schema.Message, t schema.Tree) *itemFault {
	for _, f := range partsOf(m, t) {
		if v := t[f.Name]; v != nil {
			if fault := checkValue(f, false, v); fault != nil {
				return fault.under("." + f.Name)
			}
		}
	}
	return nil
}

func checkValue(f *schema.Field, element bool, v any) *itemFault {
	switch relationOf(f, element) {
	case message:
		if tree, ok := v.(schema.Tree); ok {
			return checkMessage(f.Message, tree)
		}
	case table:
		if tree, ok := v.(schema.Tree); ok && relationOf(f, true) != whole {
			for _, key := range rules.Keys(tree) {
				if fault := checkValue(f, true, tree[key]); fault != nil {
					return fault.under("." + key)
				}
			}
		}
	case items:
		return checkList(f, v)
	}
	return nil
}

func checkList(f *schema.Field, v any) *itemFault {
	list, _ := v.([]any)
	seen := newSteps(len(list))
	steps := itemSteps(f, list)
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

// steps are the steps of one list, each once.
type steps struct {
	few  []step
	many map[step]bool // instead of few, for a list whose length would be felt
}

// fewItems is how many items are looked through one by one.
const fewItems = 32

func newSteps(n int) *steps {
	if n > fewItems {
		return &steps{many: make(map[step]bool, n)}
	}
	return &steps{few: make([]step, 0, n)}
}

// add tells whether a step is new.
func (s *steps) add(at step) bool {
	if s.many != nil {
		if s.many[at] {
			return false
		}
		s.many[at] = true
		return true
	}
	if slices.Contains(s.few, at) {
		return false
	}
	s.few = append(s.few, at)
	return true
}
