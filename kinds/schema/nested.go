package schema

// typeMetaFields are what the JSON form of an object says of itself. They have no numbers.
var typeMetaFields = []*Field{{Name: "kind"}, {Name: "apiVersion"}}

// nested is the form of a typed message within another: there kind and apiVersion are
// fields like others, which Protobuf does not know. It is filled once all are compiled.
func (c *compiler) nested(m *Message) *Message {
	if !m.HasTypeMeta {
		return m
	}
	n := c.nestedForms[m]
	if n == nil {
		n = &Message{Name: m.Name, Doc: m.Doc, OneOf: m.OneOf}
		c.nestedForms[m] = n
	}
	return n
}

func (c *compiler) fillNested() {
	for m, n := range c.nestedForms {
		n.Fields = append(append(make([]*Field, 0, len(m.Fields)+len(typeMetaFields)), typeMetaFields...), m.Fields...)
		n.Index()
	}
}
