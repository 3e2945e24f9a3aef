package cel

import (
	"github.com/google/cel-go/cel"

	"github.com/troupe-api/troupe/kinds/schema"
)

// MessageType returns the type of objects of a built-in kind for type checks, such as warnings
// about wrong field names in the status of a policy. Values of trees do not have it: admission
// evaluates objects as dynamic. name is the prefix of object types, as for NewType.
func MessageType(m *schema.Message, name string) *Type {
	return messageTyper{name, map[string]*Type{}}.object(m)
}

// A messageTyper builds the types of one message, which may be recursive.
type messageTyper struct {
	name    string
	objects map[string]*Type
}

// object registers the type before its fields, which ends recursion. It omits field names that
// cannot be escaped.
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

// field returns the type of a field, including list or map.
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

// value returns a dynamic type for quantities and int-or-string values, since expressions use both
// forms.
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
