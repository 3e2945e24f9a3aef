package crd

import "github.com/troupe-api/troupe/kinds/schema"

// A planner converts schemas to messages, which define the fields that field managers can own.
type planner struct{ metadata *schema.Message } // metadata of embedded objects

// field returns the message field for a node. A value that a newer schema makes atomic remains a
// list or map, and a manager that owned a part of it owns the whole value.
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

// message returns the message of an object. The kind, apiVersion and metadata of embedded objects
// do not depend on the schema.
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

// additional returns the field that describes undeclared fields, or nil. A value without a type may
// be an object, whose fields can then be owned separately.
func (p planner) additional(n *node, atRoot bool) *schema.Field {
	switch {
	case n.additional != nil:
		return p.field(n.additional, "")
	case n.preserveUnknown || n.kind == "" || n.isBare() && !atRoot:
		return anyField("")
	}
	return nil
}

// isBare reports whether the schema declares an object without fields. An apply configuration may
// contain fields of such an object. They are pruned later, as in other requests.
func (n *node) isBare() bool {
	return n.kind == "object" && len(n.names) == 0 && n.additional == nil && !n.embedded
}

// withExplicitPresence returns a message that keeps values as sent. Embedded objects must neither
// lose empty fields nor gain missing ones.
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

// anyField returns a field for a value that has no schema. As in kube-apiserver, managers own
// the fields of nested objects separately, but lists as a whole.
func anyField(name string) *schema.Field {
	return &schema.Field{Name: name, Type: schema.TypeMessage, Pointer: true, Message: openMessage}
}

var openMessage = newOpenMessage()

// newOpenMessage returns a message that refers to itself, because the parts of a value without a
// schema have none either.
func newOpenMessage() *schema.Message {
	m := schema.NewMessage("")
	m.Additional = &schema.Field{Type: schema.TypeMessage, Pointer: true, Message: m}
	return m
}
