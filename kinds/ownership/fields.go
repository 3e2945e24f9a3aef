package ownership

import (
	"fmt"

	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// fields is the set of the paths that a tree of message m has a value for: the leaves, items of
// lists, and empty objects.
func fields(m *schema.Message, t schema.Tree, s skip) Set {
	var b builder
	for _, f := range m.Sorted() {
		v := t[f.Name]
		switch {
		case v == nil || s.root(f.Name):
		case f.Name == "metadata":
			metadata, _ := v.(schema.Tree)
			b.add(fieldStep(f.Name), false, metadataFields(f.Message, metadata))
		default:
			member, below := valueFields(f, false, v)
			b.add(fieldStep(f.Name), member, below)
		}
	}
	return b.set()
}

func metadataFields(m *schema.Message, t schema.Tree) Set {
	var b builder
	for _, f := range m.Sorted() {
		if v := t[f.Name]; v != nil && !nobodys[f.Name] {
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
	for _, f := range m.Sorted() {
		if v := t[f.Name]; v != nil {
			member, below := valueFields(f, false, v)
			b.add(fieldStep(f.Name), member, below)
		}
	}
	return b.set()
}

// itemFields are the items of a list, each with what is below it, unless it is there twice.
func itemFields(f *schema.Field, v any) Set {
	list, _ := v.([]any)
	b := builder{whole: true}
	for _, item := range list {
		at, _ := itemStep(f, item)
		_, below := valueFields(f, true, item)
		b.add(at, true, below)
	}
	return b.set()
}

// CheckItems finds the first list in an object that has an item twice, or an item without
// a key: such an object cannot be applied. The text names the place, as in
// `.spec.containers: duplicate entries for key [name="c"]`; "" if there is none.
func CheckItems(m *schema.Message, t schema.Tree) string { return checkMessage(m, t, "") }

func checkMessage(m *schema.Message, t schema.Tree, path string) string {
	for _, f := range m.Sorted() {
		if v := t[f.Name]; v != nil {
			if fault := checkValue(f, false, v, path+"."+f.Name); fault != "" {
				return fault
			}
		}
	}
	return ""
}

func checkValue(f *schema.Field, element bool, v any, path string) string {
	switch relationOf(f, element) {
	case message:
		if tree, ok := v.(schema.Tree); ok {
			return checkMessage(f.Message, tree, path)
		}
	case table:
		tree, _ := v.(schema.Tree)
		for _, key := range rules.Keys(tree) {
			if fault := checkValue(f, true, tree[key], path+"."+key); fault != "" {
				return fault
			}
		}
	case items:
		return checkList(f, v, path)
	}
	return ""
}

func checkList(f *schema.Field, v any, path string) string {
	list, _ := v.([]any)
	seen := make(map[step]bool, len(list))
	for i, item := range list {
		at, missing := itemStep(f, item)
		if missing != "" {
			return fmt.Sprintf("%s: element %d: associative list with keys has an element that omits key field %q (and doesn't have default value)", path, i, missing)
		}
		if seen[at] {
			return fmt.Sprintf("%s: duplicate entries for key %s", path, at)
		}
		seen[at] = true
		if fault := checkValue(f, true, item, path+at.String()); fault != "" {
			return fault
		}
	}
	return ""
}
