package schema

var typeMetaFields = []*Field{{Name: "kind"}, {Name: "apiVersion"}}

// nested returns the variant of m for objects that are embedded in another message. In this
// variant, kind and apiVersion are plain JSON fields, which Protobuf omits. fillNested adds the
// fields once all messages are compiled.
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
