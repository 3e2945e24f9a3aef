package custom

import "github.com/troupe-api/troupe/kinds/schema"

// plan is the field that a node stands for in ownership. What is owned as a whole has no
// parts there.
func (n *node) plan(name string) *schema.Field {
	f := &schema.Field{Name: name, Type: schema.TypeRaw, Pointer: true}
	switch {
	case n.intOrString:
	case n.kind == "array" && n.listType == "set":
		f.Shape, f.ListType = schema.List, schema.ListSet
	case n.kind == "array" && n.listType == "map" && n.items != nil:
		f.Shape, f.ListType, f.ListMapKeys = schema.List, schema.ListMap, n.listKeys
		f.Type, f.Message, f.MapAtomic = schema.TypeMessage, n.items.message(), n.items.atomic
		for _, key := range n.listKeys {
			if p := n.items.properties[key]; p != nil && p.fill != nil {
				f.Message.Field(key).Default = p.fill
			}
		}
	case n.kind == "object" && !n.atomic, n.kind == "" && n.open:
		f.Type, f.Message = schema.TypeMessage, n.message()
	}
	return f
}

// message is the structure of an object.
func (n *node) message() *schema.Message {
	var fields []*schema.Field
	for _, property := range n.names {
		if !n.embedded || !itself(property) {
			fields = append(fields, n.properties[property].plan(property))
		}
	}
	if n.embedded {
		fields = append(fields, raw("apiVersion"), raw("kind"), anything("metadata"))
	}
	m := schema.NewMessage("", fields...)
	m.Other = n.other()
	return m
}

// other is the form of the fields that a schema does not name.
func (n *node) other() *schema.Field {
	switch {
	case n.additional != nil:
		return n.additional.plan("")
	case n.open || n.kind == "":
		return anything("")
	}
	return nil
}

func raw(name string) *schema.Field {
	return &schema.Field{Name: name, Type: schema.TypeRaw, Pointer: true}
}

// anything is a field of which no schema tells: objects are owned field by field, whatever is in
// them, and lists as a whole.
func anything(name string) *schema.Field {
	return &schema.Field{Name: name, Type: schema.TypeMessage, Pointer: true, Message: open}
}

// open is the message of objects without a schema.
var open = newOpen()

func newOpen() *schema.Message {
	m := schema.NewMessage("")
	m.Other = &schema.Field{Type: schema.TypeMessage, Pointer: true, Message: m}
	return m
}
