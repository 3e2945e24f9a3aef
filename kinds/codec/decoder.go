package codec

import (
	"sync"

	"github.com/troupe-api/troupe/kinds/jsontext"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A decoder decodes one JSON document according to the plan of a kind. Its methods return errors
// only for malformed JSON. They skip values of a wrong type and record the error in the
// pathTracker. The Scanner is embedded for speed.
type decoder struct {
	jsontext.Scanner
	pathTracker
	// items is a stack with the items of nested lists, innermost last. A list is allocated once its
	// length is known.
	items     []any
	messages  int
	keepNulls bool // null fields stay in the tree as nil
}

var decoders = sync.Pool{New: func() any { return &decoder{pathTracker: pathTracker{path: make([]pathElement, 0, 16)}} }}

// newDecoder returns a decoder from the pool. Its methods root and anyDocument return it to the
// pool.
func newDecoder(text string) *decoder {
	d := decoders.Get().(*decoder)
	d.Text = text
	return d
}

// release drops all references to the document, which the pool would otherwise retain.
func (d *decoder) release() {
	const most = 1024 // maximum number of retained path elements and items
	path, items := d.path[:cap(d.path)], d.items[:cap(d.items)]
	*d = decoder{}
	if len(path) > most || len(items) > most {
		return
	}
	clear(path)
	clear(items)
	d.path, d.items = path[:0], items[:0]
	decoders.Put(d)
}

func typeOfByte(c byte) string {
	switch c {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "bool"
	case 'n':
		return "null"
	}
	return "number"
}

// typeMeta lists the fields that every object has, even if its plan does not list them.
var typeMeta = []*schema.Field{{Name: "kind"}, {Name: "apiVersion"}}

// fieldOf returns a field of m, or nil. If root is true, m is the message of a whole object, which
// also has kind and apiVersion.
func fieldOf(m *schema.Message, name string, root bool) *schema.Field {
	f := m.Field(name)
	if f != nil || !root {
		return f
	}
	for _, f := range typeMeta {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// message decodes an object of message m. The tree uses the names in m as keys, so that all objects
// of a kind share these strings. As in encoding/json, the last duplicate of a field wins.
func (d *decoder) message(m *schema.Message) (tree.Tree, error) {
	root := d.Depth == 0
	if err := d.Open(); err != nil {
		return nil, err
	}
	if d.messages++; d.messages > maxMessages && d.Limit == 0 { // stored objects were already accepted
		return nil, ErrTooManyMessages
	}
	object := make(tree.Tree)
	nulls := false
	for first := true; ; first = false {
		key, more, err := d.Key(first)
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
		f := fieldOf(m, key, root)
		if f == nil {
			d.unknown(key)
			if err := d.Skip(); err != nil {
				return nil, err
			}
			continue
		}
		d.pushField(m, f)
		v, err := d.field(f)
		d.pop()
		if err != nil {
			return nil, err
		}
		before := len(object)
		object[f.Name] = v
		if len(object) == before {
			d.duplicate(f.Name)
		}
		nulls = nulls || v == nil
	}
	if nulls && !d.keepNulls {
		dropNulls(object)
	}
	return object, nil
}

// dropNulls removes null fields, which equal absent fields except in an apply configuration.
func dropNulls(object tree.Tree) {
	for k, v := range object {
		if v == nil {
			delete(object, k)
		}
	}
}

// field decodes a field's value, or returns nil for null. In lists, nulls become the zero value. In
// objects, dropNulls later removes them.
func (d *decoder) field(f *schema.Field) (any, error) {
	if f.Shape == schema.Single {
		return d.single(f)
	}
	c := d.Peek()
	switch {
	case c == 'n':
		return nil, d.Literal("null")
	case f.Shape == schema.List && c == '[':
		return d.list(f)
	case f.Shape == schema.Map && c == '{':
		return d.mapField(f)
	}
	return nil, d.skipMismatch(goType(f))
}

func (d *decoder) skipMismatch(goType string) error {
	kind := typeOfByte(d.Peek())
	if err := d.Skip(); err != nil {
		return err
	}
	d.mismatch(kind, goType)
	return nil
}

func (d *decoder) list(f *schema.Field) (any, error) {
	if err := d.Open(); err != nil {
		return nil, err
	}
	base := len(d.items)
	for first := true; ; first = false {
		more, err := d.Element(first)
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
		d.pushIndex(len(d.items) - base)
		v, err := d.single(f)
		d.pop()
		if err != nil {
			return nil, err
		}
		if v == nil {
			v = Zero(f)
		}
		d.items = append(d.items, v)
	}
	return d.popItems(base), nil
}

// popItems removes and returns the items from index base on. It clears their slots, so that the
// values can be freed.
func (d *decoder) popItems(base int) []any {
	list := make([]any, len(d.items)-base)
	copy(list, d.items[base:])
	clear(d.items[base:])
	d.items = d.items[:base]
	return list
}

func (d *decoder) mapField(f *schema.Field) (any, error) {
	if err := d.Open(); err != nil {
		return nil, err
	}
	table := make(tree.Tree)
	for first := true; ; first = false {
		key, more, err := d.Key(first)
		if err != nil {
			return nil, err
		}
		if !more {
			return table, nil
		}
		d.pushKey(key)
		v, err := d.single(f)
		d.pop()
		if err != nil {
			return nil, err
		}
		if v == nil && !d.keepNulls {
			v = Zero(f)
		}
		before := len(table)
		table[key] = v
		if len(table) == before {
			d.duplicate(key)
		}
	}
}

// single decodes one value or element of a field. It returns nil for null. Times, quantities, bytes
// and int-or-strings are strings in JSON (scalar.go).
func (d *decoder) single(f *schema.Field) (any, error) {
	c := d.Peek()
	switch f.Type {
	case schema.TypeRaw:
		if f.Message != nil {
			return d.union(f.Message)
		}
		return d.any()
	case schema.TypeFields:
		return d.fieldSet(f)
	case schema.TypeStrings:
		v, err := d.any()
		return d.strings(v), err
	}
	switch {
	case c == '"' && f.Type != schema.TypeMessage:
		s, err := d.ReadString()
		if err != nil {
			return nil, err
		}
		return d.fromString(f, s), nil
	case c == '{' && f.Type == schema.TypeMessage:
		tree, err := d.message(f.Message)
		if err != nil {
			return nil, err
		}
		return tree, nil
	case c == 'n':
		return nil, d.Literal("null")
	case f.Type == schema.TypeMessage:
		return nil, d.skipMismatch(elementType(f))
	case c == 't':
		return d.fromBool(f, true), d.Literal("true")
	case c == 'f':
		return d.fromBool(f, false), d.Literal("false")
	case c == '-' || jsontext.IsDigit(c):
		literal, err := d.ReadNumber()
		if err != nil {
			return nil, err
		}
		return d.fromNumber(f, literal), nil
	}
	return nil, d.skipMismatch(elementType(f))
}
