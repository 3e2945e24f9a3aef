package schema

import (
	"slices"
	"strings"
)

// A Message is the structure of an object or of a part of one.
type Message struct {
	Name   string   // as in "core.v1.PodSpec"
	Fields []*Field // in order of declaration, which is the order of encoding; inlined messages are expanded in place
	// Doc is a short description for OpenAPI.
	Doc string
	// HasTypeMeta: the JSON form also holds kind and apiVersion. They are in no plan: Protobuf
	// keeps them in its envelope, and the server writes them from the Kind. Within another
	// message an object has no type meta: there both are fields, without numbers.
	HasTypeMeta bool
	// Additional describes every field that Fields does not list; nil if there may be no others.
	// Only messages of custom kinds have it.
	Additional *Field
	// Custom is set for the objects of custom kinds.
	Custom *Custom
	// OneOf are groups of fields of which an object holds one.
	OneOf []OneOf
	// Rules are the declared rules; nil: there are none.
	Rules *Rules
	// Values is how objects of the message are defaulted, pruned and checked. Package rules makes it.
	Values *ValuePlan

	byName    map[string]*Field
	sorted    []*Field
	composite []*Field
}

// Field finds a field by its JSON name; nil if there is none.
func (m *Message) Field(name string) *Field {
	if f := m.byName[name]; f != nil {
		return f
	}
	return m.Additional
}

// Sorted lists the fields by their JSON names. The caller may not change it.
func (m *Message) Sorted() []*Field { return m.sorted }

// Composite lists, by their JSON names, the fields that may hold messages, or lists whose items are
// told apart. The caller may not change it.
func (m *Message) Composite() []*Field { return m.composite }

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

// Lookup finds the field at a dotted path, as in "spec.nodeName", through single
// messages only; nil if there is none.
func (m *Message) Lookup(path string) *Field {
	for {
		name, rest, more := strings.Cut(path, ".")
		f := m.Field(name)
		if f == nil || !more {
			return f
		}
		if f.Message == nil || f.Shape != Single {
			return nil
		}
		m, path = f.Message, rest
	}
}
