package schema

import (
	"slices"
	"strings"
)

// A Message is the structure of an object or a part of one.
type Message struct {
	Name   string   // as in "core.v1.PodSpec"
	Fields []*Field // in order of declaration and encoding; inlined messages are expanded
	// Doc is a short description for OpenAPI.
	Doc string
	// HasTypeMeta marks messages whose JSON also holds kind and apiVersion. The plan omits
	// these fields: the Protobuf envelope holds them, and the server writes them from the Kind.
	// For an object within another message, both are plain fields without numbers.
	HasTypeMeta bool
	// Additional describes fields that Fields does not list; nil if they are not allowed. Only
	// messages of custom kinds have it.
	Additional *Field
	// Custom is set for the objects of custom kinds.
	Custom *Custom
	// OneOf are groups of mutually exclusive fields.
	OneOf []OneOf
	// Rules are the declared rules, or nil.
	Rules *Rules
	// Values defaults, prunes and checks objects of the message. Package rules compiles it.
	Values *ValuePlan

	byName    map[string]*Field
	sorted    []*Field
	composite []*Field
}

// Field returns the field with a JSON name, else Additional, which may be nil.
func (m *Message) Field(name string) *Field {
	if f := m.byName[name]; f != nil {
		return f
	}
	return m.Additional
}

// Sorted returns the fields sorted by JSON name. Callers must not change the slice.
func (m *Message) Sorted() []*Field { return m.sorted }

// Composite returns, sorted by JSON name, the fields that may hold messages or lists with keyed
// items. Callers must not change the slice.
func (m *Message) Composite() []*Field { return m.composite }

// NewMessage returns an indexed message with these fields.
func NewMessage(name string, fields ...*Field) *Message {
	m := &Message{Name: name, Fields: fields}
	m.Index()
	return m
}

// Index builds the lookup tables. Call it after a change of Fields, before the message is used.
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

// Lookup returns the field at a dotted path, as in "spec.nodeName", or nil. It descends only into
// single messages.
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
