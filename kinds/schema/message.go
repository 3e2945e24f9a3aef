package schema

import (
	"slices"
	"strings"
)

// A Message describes the structure of an object or of a nested object.
type Message struct {
	Name   string   // as in "core.v1.PodSpec"
	Fields []*Field // in declaration and encoding order; inlined messages are expanded
	// Doc is a short description, published in OpenAPI.
	Doc string
	// HasTypeMeta marks a message whose JSON also contains kind and apiVersion. Fields omits both,
	// because the Protobuf envelope contains them and the server writes them from the Kind. In an
	// embedded object, both are plain fields without Protobuf numbers.
	HasTypeMeta bool
	// Additional describes all fields that Fields does not list, or is nil. Only messages of custom
	// kinds have it.
	Additional *Field
	// Custom is set only for custom kinds.
	Custom *Custom
	// Config lists the accepted types of a configuration file, each as "apiVersion kind".
	Config []string
	// OneOf lists groups of mutually exclusive fields.
	OneOf []OneOf
	// Rules contains the declared validation rules, or is nil.
	Rules *Rules
	// Values is the plan for defaulting, pruning and validating objects. Package rules compiles it.
	Values *ValuePlan

	byName    map[string]*Field
	sorted    []*Field
	composite []*Field
}

// Field returns the field with the given JSON name, or otherwise Additional, which may be nil.
func (m *Message) Field(name string) *Field {
	if f := m.byName[name]; f != nil {
		return f
	}
	return m.Additional
}

// Sorted returns the fields sorted by JSON name. Callers must not change the slice.
func (m *Message) Sorted() []*Field { return m.sorted }

// Composite returns the fields that may contain messages or lists with keyed items, sorted by JSON
// name. Callers must not change the slice.
func (m *Message) Composite() []*Field { return m.composite }

// NewMessage returns a message with the given fields, ready for lookups.
func NewMessage(name string, fields ...*Field) *Message {
	m := &Message{Name: name, Fields: fields}
	m.Index()
	return m
}

// Index builds the lookup tables. Call it after changing Fields and before using the message.
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

// Lookup returns the field at a dotted path such as "spec.nodeName", or nil. It does not descend
// into lists or maps.
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
