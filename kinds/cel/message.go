package cel

import (
	"cel.dev/cel-go/cel"

	"github.com/troupe-api/troupe/kinds/schema"
)

// MessageType returns the CEL type of a built-in kind's objects. name is the prefix of object types
// (see NewType). The type only serves to check expressions, for example for the status of a policy.
// During admission, objects are dynamic values.
func MessageType(m *schema.Message, name string) *Type {
	return messageTyper{name, map[string]*Type{}}.object(m)
}

type messageTyper struct {
	name    string
	objects map[string]*Type
}

// object returns the type of a message. It registers the type before the fields, because messages
// may be recursive. It omits fields whose names cannot be escaped.
func (t messageTyper) object(m *schema.Message) *Type {
	name := t.name + "." + m.Name
	if known := t.objects[name]; known != nil {
		return known
	}
	o := &Type{cel: cel.ObjectType(name), fields: map[string]*Type{}, minSize: 2, objects: t.objects}
	t.objects[name] = o
	if m.HasTypeMeta {
		o.fields["kind"], o.fields["apiVersion"] = String, String
	}
	for _, f := range m.Fields {
		if escaped, ok := Escape(f.Name); ok {
			o.fields[escaped] = t.field(f)
		}
	}
	return o
}

func (t messageTyper) field(f *schema.Field) *Type {
	one := t.value(f)
	switch f.Shape {
	case schema.List:
		list := ListOf(one)
		list.objects = t.objects
		return list
	case schema.Map:
		m := MapOf(one)
		m.objects = t.objects
		return m
	}
	return one
}

// value returns the type of one value. Quantities and int-or-strings are dynamic, because they may
// be numbers or strings.
func (t messageTyper) value(f *schema.Field) *Type {
	switch f.Type {
	case schema.TypeString, schema.TypeDuration:
		return String
	case schema.TypeBool:
		return Bool
	case schema.TypeInt32, schema.TypeInt64:
		return Int
	case schema.TypeDouble:
		return Double
	case schema.TypeBytes:
		return Bytes
	case schema.TypeTime, schema.TypeMicroTime:
		return Timestamp
	case schema.TypeStrings:
		return ListOf(String)
	case schema.TypeMessage:
		return t.object(f.Message)
	}
	return Dyn
}
