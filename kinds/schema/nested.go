package schema

// typeFields are what the JSON form of an object says of itself. They have no numbers.
var typeFields = []*Field{{Name: "kind"}, {Name: "apiVersion"}}

// nested is the form of a typed message within another: there kind and apiVersion are
// fields like others, which Protobuf does not know. It is filled once all are compiled.
func (c *compiler) nested(m *Message) *Message {
	if !m.Typed {
		return m
	}
	n := c.inner[m]
	if n == nil {
		n = &Message{Name: m.Name, Doc: m.Doc}
		c.inner[m] = n
	}
	return n
}

func (c *compiler) fillNested() {
	for m, n := range c.inner {
		n.Fields = append(append(make([]*Field, 0, len(m.Fields)+len(typeFields)), typeFields...), m.Fields...)
		n.Index()
	}
}
