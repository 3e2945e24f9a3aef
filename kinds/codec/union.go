package codec

import (
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A union is a field of type Raw with a message (schema.Field.Message), such as the additionalProperties
// of a schema. In JSON it is the value of whichever field of the message fits: an object, a list or a
// bool. In Protobuf it is the message, in which the bool is true beside an object.

// unionField finds the field of a union for a value; nil if none fits.
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

// unionFieldFor finds the field of a union for a value that begins with c.
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
		return d.field(f)
	}
	if c == 'n' {
		return nil, d.Literal("null")
	}
	return nil, d.skipMismatch(messageType(m))
}

func (c *conformer) union(m *schema.Message, v any) any {
	f := unionField(m, v)
	if f == nil {
		c.mismatch(valueType(v), messageType(m))
		return nil
	}
	return c.field(f, v)
}

func (e *encoder) union(m *schema.Message, v any) {
	if f := unionField(m, v); f != nil {
		e.value(f, v)
		return
	}
	e.raw("null")
}

// appendWireUnion appends the message of a union. Its bool is true beside an object or a list, as in the
// Go types that other clients decode it into.
func appendWireUnion(b []byte, m *schema.Message, v any) []byte {
	f := unionField(m, v)
	if f == nil {
		return appendWire(b, wireOf(m), nil)
	}
	parts := tree.Tree{f.Name: v}
	if flag := unionFieldFor(m, 't'); flag != nil && flag != f {
		parts[flag.Name] = true
	}
	return appendWire(b, wireOf(m), parts)
}

// union reads a message and returns the value that the union has in JSON; nil if there is none.
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
