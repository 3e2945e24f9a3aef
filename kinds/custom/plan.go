package custom

import "github.com/troupe-api/troupe/kinds/schema"

// A planner makes messages of schemas, by which field ownership divides objects.
type planner struct{ metadata *schema.Message } // that of embedded objects

// field is the field of a node. What is owned as a whole has no parts, but the shape of the parts that it may have had
// in an earlier schema: whoever owned one of them owns the whole now.
func (p planner) field(n *node, name string) *schema.Field {
	f := &schema.Field{Name: name, Type: schema.TypeRaw, Pointer: true}
	switch {
	case n.intOrString:
	case n.kind == "array" && n.listType == "set":
		f.Shape, f.ListType = schema.List, schema.ListSet
	case n.kind == "array" && n.listType == "map" && n.items != nil:
		f.Shape, f.ListType, f.ListMapKeys = schema.List, schema.ListMap, n.listKeys
		f.Type, f.Message, f.MapAtomic = schema.TypeMessage, p.message(n.items), n.items.atomic
		if n.preserveUnknown && f.Message.Additional == nil { // as for pruning
			f.Message.Additional = anyField("")
		}
		for _, key := range n.listKeys {
			if property := n.items.properties[key]; property != nil && property.defaultValue != nil {
				f.Message.Field(key).Default = property.defaultValue
			}
		}
	case n.kind == "array":
		f.Shape = schema.List
	case n.kind == "object" && n.atomic:
		f.Shape, f.MapAtomic = schema.Map, true
	case n.kind == "object", n.kind == "":
		f.Type, f.Message = schema.TypeMessage, p.message(n)
	}
	return f
}

// message is the structure of an object.
//
// Kind, apiVersion and metadata of an embedded object are always the same, whatever the schema says of them.
func (p planner) message(n *node) *schema.Message {
	var fields []*schema.Field
	for _, property := range n.names {
		if !n.embedded || !schema.IsResourceField(property) {
			fields = append(fields, p.field(n.properties[property], property))
		}
	}
	if n.embedded {
		fields = append(fields, rawField("apiVersion"), rawField("kind"),
			&schema.Field{Name: "metadata", Type: schema.TypeMessage, Pointer: true, Message: p.metadata})
	}
	m := schema.NewMessage("", fields...)
	m.Additional = p.additional(n, false)
	return m
}

// additional describes the fields that a schema does not name; nil if there are none.
//
// A schema without a type may hold an object too, so its fields can be owned one by one.
func (p planner) additional(n *node, atRoot bool) *schema.Field {
	switch {
	case n.additional != nil:
		return p.field(n.additional, "")
	case n.preserveUnknown || n.kind == "" || n.isBare() && !atRoot:
		return anyField("")
	}
	return nil
}

// isBare tells whether the values are objects of which the schema says nothing. A configuration may name fields of them:
// they are pruned afterwards, as those of a body are.
func (n *node) isBare() bool {
	return n.kind == "object" && len(n.names) == 0 && n.additional == nil && !n.embedded
}

// withExplicitPresence is a message whose values are kept exactly as they were sent: inside of objects of custom kinds
// nothing is left out because it is empty, and nothing is written because it is missing.
func withExplicitPresence(m *schema.Message) *schema.Message {
	fields := make([]*schema.Field, len(m.Fields))
	for i, f := range m.Fields {
		one := *f
		one.Pointer, one.EmitEmpty, one.Default = true, false, nil
		if f.Type == schema.TypeMessage {
			one.Message = withExplicitPresence(f.Message)
		}
		fields[i] = &one
	}
	return schema.NewMessage(m.Name, fields...)
}

func rawField(name string) *schema.Field {
	return &schema.Field{Name: name, Type: schema.TypeRaw, Pointer: true}
}

// anyField is a field without a schema: objects are owned field by field, and lists as a whole.
//
// It is what the public server does for values without a schema, and field managers would differ otherwise.
func anyField(name string) *schema.Field {
	return &schema.Field{Name: name, Type: schema.TypeMessage, Pointer: true, Message: openMessage}
}

// openMessage is the message of objects without a schema.
var openMessage = newOpenMessage()

// The message refers to itself, since what is inside an open value is open again.
func newOpenMessage() *schema.Message {
	m := schema.NewMessage("")
	m.Additional = &schema.Field{Type: schema.TypeMessage, Pointer: true, Message: m}
	return m
}
