package cel

import (
	"github.com/google/cel-go/cel"

	"github.com/troupe-api/troupe/kinds/schema"
)

// MessageType is the type of the objects of a built-in kind, for checking expressions. Values of trees are
// no values of it: a time is a text there. name begins the names of the types of objects, as for NewType.
// It serves the warnings of a policy's status: a wrong field name is found when the policy is written,
// although admission evaluates the objects as dynamic.
func MessageType(m *schema.Message, name string) *Type {
	return messageTyper{name, map[string]*Type{}}.object(m)
}

// A messageTyper makes the types of one message. A message that contains itself is one type. It is used for
// one message, whose types have names of their own.
type messageTyper struct {
	name    string
	objects map[string]*Type
}

// The object is registered before its fields are made, which ends the recursion of messages that contain
// themselves. Field names that cannot be escaped are left out.
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

// field is the type of a field, with its list or map around the type of one value.
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

// Quantities and what holds either a number or a text are dynamic: expressions treat both sorts.
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
