package schema

// typeMetaFields are the fields in which the JSON form of an object names its kind. They have no numbers.
var typeMetaFields = []*Field{{Name: "kind"}, {Name: "apiVersion"}}

// nested is the form that a message with type meta has within another: there kind and apiVersion are
// fields like others, which Protobuf does not know. It is filled when all messages are compiled.
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
