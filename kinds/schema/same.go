package schema

import "github.com/troupe-api/troupe/kinds/tree"

// Same reports whether an update from a to b changes nothing. An absent field equals an empty one,
// unless the field is a pointer. For example, an absent hostUsers differs from false. Unstructured
// values and map entries are compared exactly.
//
// By contrast, tree.SemanticEqual treats every absent field as empty.
func (m *Message) Same(a, b tree.Tree) bool {
	if tree.SameRef(a, b) {
		return true
	}
	for name, v := range a {
		if !m.sameField(name, v, b[name]) {
			return false
		}
	}
	for name, v := range b {
		if _, compared := a[name]; !compared && !m.sameField(name, nil, v) {
			return false
		}
	}
	return true
}

func (m *Message) sameField(name string, a, b any) bool {
	if f := m.Field(name); f != nil {
		return f.Same(a, b)
	}
	return tree.SemanticEqual(a, b)
}

// Same reports whether two values of the field are equivalent, where nil means absent.
func (f *Field) Same(a, b any) bool {
	if tree.SameRef(a, b) {
		return true
	}
	switch f.Shape {
	case List:
		return f.sameLists(a, b)
	case Map:
		return f.sameMaps(a, b)
	}
	if f.Pointer && (a == nil || b == nil) {
		return false
	}
	return tree.IsEmpty(a) && tree.IsEmpty(b) || f.sameItems(a, b)
}

func (f *Field) sameLists(a, b any) bool {
	x, isList := a.([]any)
	y, isListToo := b.([]any)
	if a != nil && !isList || b != nil && !isListToo || len(x) != len(y) {
		return false
	}
	for i := range x {
		if !f.sameItems(x[i], y[i]) {
			return false
		}
	}
	return true
}

func (f *Field) sameMaps(a, b any) bool {
	x, isMap := a.(tree.Tree)
	y, isMapToo := b.(tree.Tree)
	if a != nil && !isMap || b != nil && !isMapToo || len(x) != len(y) {
		return false
	}
	for key, v := range x {
		if w, there := y[key]; !there || !f.sameItems(v, w) {
			return false
		}
	}
	return true
}

func (f *Field) sameItems(a, b any) bool {
	if f.Type != TypeMessage || f.Message == nil {
		return tree.StrictEqual(a, b)
	}
	x, isObject := a.(tree.Tree)
	y, isObjectToo := b.(tree.Tree)
	return (a == nil || isObject) && (b == nil || isObjectToo) && f.Message.Same(x, y)
}
