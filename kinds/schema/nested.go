package schema

var typeMetaFields = []*Field{{Name: "kind"}, {Name: "apiVersion"}}

// within returns the variant of m for embedded objects, in which kind and apiVersion are plain JSON
// fields that Protobuf omits. completeNested adds these fields once all messages are compiled.
func (c *compiler) within(m *Message) *Message {
	if !m.HasTypeMeta {
		return m
	}
	n := c.nestedForms[m]
	if n == nil {
		n = &Message{Name: m.Name, Doc: m.Doc}
		c.nestedForms[m] = n
		c.nested = append(c.nested, m)
	}
	return n
}

func (c *compiler) completeNested() {
	for _, m := range c.nested {
		n := c.nestedForms[m]
		n.Fields = append(append(make([]*Field, 0, len(m.Fields)+len(typeMetaFields)), typeMetaFields...), m.Fields...)
		n.OneOf = m.OneOf
		n.Index()
	}
}
