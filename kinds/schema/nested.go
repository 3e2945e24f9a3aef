package schema

// typeMetaFields name the kind in the JSON form of an object. They have no Protobuf numbers.
var typeMetaFields = []*Field{{Name: "kind"}, {Name: "apiVersion"}}

// nested returns the form that a message with type meta has within another message: kind and
// apiVersion are plain fields that Protobuf does not have. It is filled after all messages are
// compiled.
func (c *compiler) nested(m *Message) *Message {
	if !m.HasTypeMeta {
		return m
	}
	n := c.nestedForms[m]
	if n == nil {
		n = &Message{Name: m.Name, Doc: m.Doc}
		c.nestedForms[m] = n
	}
	return n
}

func (c *compiler) fillNested() {
	for m, n := range c.nestedForms {
		n.Fields = append(append(make([]*Field, 0, len(m.Fields)+len(typeMetaFields)), typeMetaFields...), m.Fields...)
		n.OneOf = m.OneOf
		n.Index()
	}
}
