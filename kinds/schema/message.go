package schema

import (
	"slices"
	"strings"
)

// NewMessage makes a message of fields, ready to be looked up by their JSON names.
func NewMessage(name string, fields ...*Field) *Message {
	m := &Message{Name: name, Fields: fields}
	m.Index()
	return m
}

// Index must be called after Fields has been set or changed, before the message is used.
func (m *Message) Index() {
	m.byName = make(map[string]*Field, len(m.Fields))
	for _, f := range m.Fields {
		m.byName[f.Name] = f
	}
	m.sorted = slices.Clone(m.Fields)
	slices.SortFunc(m.sorted, func(a, b *Field) int { return strings.Compare(a.Name, b.Name) })
	m.composite = slices.DeleteFunc(slices.Clone(m.sorted), func(f *Field) bool { return !f.isComposite() })
}

func (f *Field) isComposite() bool {
	return f.Type == TypeMessage || f.Shape == List && f.ListType != ListAtomic
}
