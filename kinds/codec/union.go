package codec

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A union is a field whose JSON value may be an object, a list or a bool, such as
// additionalProperties in a schema. It has type Raw and a message (schema.Field.Message) with one
// field per type. JSON contains only the value of that field. Protobuf contains the whole message,
// whose bool is true if an object is set.

func unionField(m *schema.Message, v any) *schema.Field {
	switch v.(type) {
	case tree.Tree:
		return unionFieldFor(m, '{')
	case []any:
		return unionFieldFor(m, '[')
	case bool:
		return unionFieldFor(m, 't')
	}
	return nil
}

// unionFieldFor returns the field of a union's message for a JSON value that begins with c, or nil.
// For additionalProperties (JSONSchemaPropsOrBool), "t" and "f" select allows, and "{" selects
// schema.
func unionFieldFor(m *schema.Message, c byte) *schema.Field {
	for _, f := range m.Fields {
		switch {
		case f.Shape == schema.List:
			if c == '[' {
				return f
			}
		case f.Type == schema.TypeBool:
			if c == 't' || c == 'f' {
				return f
			}
		case c == '{':
			return f
		}
	}
	return nil
}

func (d *decoder) union(m *schema.Message) (any, error) {
	c := d.Peek()
	if f := unionFieldFor(m, c); f != nil {
		d.unions++
		v, err := d.field(f)
		d.unions--
		return v, err
	}
	if c == 'n' {
		return nil, d.Literal("null")
	}
	return nil, d.skipMismatch(messageType(m))
}

// union converts the JSON value v of a union, such as additionalProperties, with the field of m
// that matches the type of v.
func (c *conformer) union(m *schema.Message, v any) any {
	f := unionField(m, v)
	if f == nil {
		c.mismatchOf(v, messageType(m))
		return nil
	}
	c.unions++
	defer func() { c.unions-- }()
	return c.field(f, v)
}

func (e *encoder) union(m *schema.Message, v any) {
	if f := unionField(m, v); f != nil {
		e.value(f, v)
		return
	}
	e.raw("null")
}

// union encodes the message of a union. As in the Kubernetes Go types, its bool is true if the
// value is an object or list.
func (e *wireEncoder) union(f *schema.Field) error {
	value, flag := unionFieldFor(f.Message, e.Peek()), unionFieldFor(f.Message, 't')
	if value == nil {
		return e.mismatch(f.Name)
	}
	for _, n := range wireOf(f.Message).nodes {
		switch {
		case n.field == value:
			if err := e.field(n.number, value); err != nil {
				return err
			}
		case n.field == flag:
			e.b = appendVarintField(e.b, n.number, protowire.EncodeBool(true))
		case n.emitsZero():
			e.zero(n.number, n.field)
		}
	}
	return nil
}

// union decodes the Protobuf message of a union and returns its JSON value, or nil. The value is
// the object or list in the message, if any. Otherwise it is the bool, which defaults to false.
func (d *wireDecoder) union(m *schema.Message, p []byte) (any, error) {
	parts := tree.Tree{}
	if err := d.message(wireOf(m), parts, p); err != nil {
		return nil, err
	}
	for _, c := range []byte{'{', '['} {
		if f := unionFieldFor(m, c); f != nil && parts[f.Name] != nil {
			return parts[f.Name], nil
		}
	}
	if flag := unionFieldFor(m, 't'); flag != nil {
		on, _ := parts[flag.Name].(bool)
		return on, nil
	}
	return nil, nil
}
