package codec

import (
	"strconv"
	"strings"
	"unicode/utf8"
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/troupe-api/troupe/kinds/jsontext"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

const errProtobuf = typeError("proto: malformed message")

// DecodeProtobuf decodes an object from Protobuf without an envelope. m describes its fields.
// Unknown fields are dropped silently, as usual for Protobuf. Faults concern only the JSON in raw
// fields.
func DecodeProtobuf(m *schema.Message, body []byte) (tree.Tree, []FieldFault, error) {
	// The strings of the tree share this one copy of the body, which is never changed.
	text := string(body)
	d := wireDecoder{}
	object := tree.Tree{}
	if err := d.message(wireOf(m), object, unsafe.Slice(unsafe.StringData(text), len(text))); err != nil {
		return nil, nil, err
	}
	if d.err != nil {
		return nil, nil, d.err
	}
	return object, d.faults, nil
}

// A wireDecoder decodes one Protobuf message into a tree, with the limits of the JSON decoder. It
// stops at a wrong wire type, but records other invalid values as faults and continues.
type wireDecoder struct {
	pathTracker
	depth    int
	messages int
	items    []any // items of the open lists, innermost last
}

// enter adds one nesting level, with the same limit as JSON. The caller must decrement depth after
// it reads the value.
func (d *wireDecoder) enter() error {
	if d.depth++; d.depth > jsontext.MaxDepth {
		return jsontext.ErrDepth
	}
	return nil
}

// message decodes b into object. Repeated fields replace values, merge messages and extend lists,
// because concatenated Protobuf encodings must merge.
func (d *wireDecoder) message(w *wireMessage, object tree.Tree, b []byte) error {
	if err := d.enter(); err != nil {
		return err
	}
	if d.messages++; d.messages > maxMessages {
		return ErrTooManyMessages
	}
	for len(b) > 0 {
		number, wireType, n := protowire.ConsumeTag(b)
		if n < 0 {
			return errProtobuf
		}
		var err error
		switch node := w.node(int32(number)); {
		case node == nil:
			n, err = skipWire(number, wireType, b, n)
		case node.inner != nil:
			n, err = d.inlined(node, wireType, object, b, n)
		case node.field.Shape == schema.List:
			n, err = d.list(node, object, b)
		case node.field.Shape == schema.Map:
			n, err = d.entry(node, wireType, object, b, n)
		default:
			n, err = d.single(node.field, wireType, object, b, n)
		}
		if err != nil {
			return err
		}
		b = b[n:]
	}
	d.depth--
	return nil
}

func wrongType(name string, t protowire.Type) error {
	return typeError("proto: wrong wireType = " + strconv.Itoa(int(t)) + " for field " + name)
}

// skipWire returns the length of an unknown field, including its tag of n bytes.
func skipWire(number protowire.Number, t protowire.Type, b []byte, n int) (int, error) {
	size := protowire.ConsumeFieldValue(number, t, b[n:])
	if size < 0 {
		return 0, errProtobuf
	}
	return n + size, nil
}

// payload returns the bytes of a length-delimited field, which share the memory of b, and the
// length of the whole field, including its tag of n bytes.
func payload(name string, t protowire.Type, b []byte, n int) ([]byte, int, error) {
	if t != protowire.BytesType {
		return nil, 0, wrongType(name, t)
	}
	p, size := protowire.ConsumeBytes(b[n:])
	if size < 0 {
		return nil, 0, errProtobuf
	}
	return p, n + size, nil
}

func (d *wireDecoder) inlined(node *wireNode, t protowire.Type, object tree.Tree, b []byte, n int) (int, error) {
	p, n, err := payload("inlined", t, b, n)
	if err != nil {
		return 0, err
	}
	d.depth-- // JSON inlines it in the parent
	err = d.message(node.inner, object, p)
	d.depth++
	return n, err
}

// list decodes consecutive elements and appends them to the list in object, which may already have
// elements. Protobuf allows other fields between them.
func (d *wireDecoder) list(node *wireNode, object tree.Tree, b []byte) (int, error) {
	base, done := len(d.items), 0
	if err := d.enter(); err != nil {
		return 0, err
	}
	for done < len(b) {
		number, t, n := protowire.ConsumeTag(b[done:])
		if n < 0 || int32(number) != node.number {
			break
		}
		n, err := d.elements(node.field, t, b[done:], n)
		if err != nil {
			return 0, err
		}
		done += n
	}
	before, _ := object[node.field.Name].([]any)
	object[node.field.Name] = append(before, d.items[base:]...)
	clear(d.items[base:])
	d.items = d.items[:base]
	d.depth--
	return done, nil
}

// elements decodes one element of a list, or a sequence of packed numbers. Clients may send numbers
// in both encodings.
func (d *wireDecoder) elements(f *schema.Field, t protowire.Type, b []byte, n int) (int, error) {
	own, isNumber := numberType(f.Type)
	if !isNumber || t != protowire.BytesType {
		v, n, err := d.value(f, t, nil, b, n)
		d.items = append(d.items, v)
		return n, err
	}
	p, n, err := payload(f.Name, t, b, n)
	for len(p) > 0 && err == nil {
		var v any
		var size int
		v, size, err = d.value(f, own, nil, p, 0)
		d.items = append(d.items, v)
		p = p[size:]
	}
	return n, err
}

func numberType(t schema.Type) (protowire.Type, bool) {
	switch t {
	case schema.TypeBool, schema.TypeInt32, schema.TypeInt64:
		return protowire.VarintType, true
	case schema.TypeDouble:
		return protowire.Fixed64Type, true
	}
	return 0, false
}

// entry decodes a map entry, a message with the key (1) and the value (2). A missing key is the
// empty string, and a missing value is zero.
func (d *wireDecoder) entry(node *wireNode, t protowire.Type, object tree.Tree, b []byte, n int) (int, error) {
	f := node.field
	p, n, err := payload(f.Name, t, b, n)
	if err != nil {
		return 0, err
	}
	var key string
	var v any
	if err := d.enter(); err != nil {
		return 0, err
	}
	for len(p) > 0 {
		number, t, size := protowire.ConsumeTag(p)
		if size < 0 {
			return 0, errProtobuf
		}
		switch number {
		case 1:
			var raw []byte
			raw, size, err = payload(f.Name, t, p, size)
			key = wireString(raw)
		case 2:
			v, size, err = d.value(f, t, nil, p, size)
		default:
			size, err = skipWire(number, t, p, size)
		}
		if err != nil {
			return 0, err
		}
		p = p[size:]
	}
	d.depth--
	if v == nil {
		v = Zero(f)
	}
	table, ok := object[f.Name].(tree.Tree)
	if !ok {
		table = tree.Tree{}
		object[f.Name] = table
	}
	table[key] = v
	return n, nil
}

// single decodes a field that is not repeated. It drops the zero value of a non-pointer field,
// because Protobuf also encodes absent fields as zero.
func (d *wireDecoder) single(f *schema.Field, t protowire.Type, object tree.Tree, b []byte, n int) (int, error) {
	v, n, err := d.value(f, t, object[f.Name], b, n)
	if err != nil {
		return 0, err
	}
	if v == nil || !f.Pointer && isWireZero(f, v) {
		delete(object, f.Name)
	} else {
		object[f.Name] = v
	}
	return n, nil
}

// isWireZero reports whether v is the value that Protobuf encodes for an absent field, such as an
// empty message.
func isWireZero(f *schema.Field, v any) bool {
	if f.Type == schema.TypeMessage {
		object, _ := v.(tree.Tree)
		return len(object) == 0
	}
	return isEmpty(f, v)
}

// value decodes one value of the field's type. It merges a message into before, the value decoded
// so far. The second result is the length of the field, including its tag of n bytes.
func (d *wireDecoder) value(f *schema.Field, t protowire.Type, before any, b []byte, n int) (any, int, error) {
	if own, isNumber := numberType(f.Type); isNumber {
		if t != own {
			return nil, 0, wrongType(f.Name, t)
		}
		v, size := wireNumber(f.Type, b[n:])
		if size < 0 {
			return nil, 0, errProtobuf
		}
		return v, n + size, nil
	}
	p, n, err := payload(f.Name, t, b, n)
	if err != nil {
		return nil, 0, err
	}
	if f.Type != schema.TypeMessage {
		v, err := d.special(f, p)
		return v, n, err
	}
	object, ok := before.(tree.Tree)
	if !ok {
		object = tree.Tree{}
	}
	return object, n, d.message(wireOf(f.Message), object, p)
}

// wireString returns a string that shares the memory of p, unless p is invalid UTF-8.
func wireString(p []byte) string {
	if len(p) == 0 {
		return ""
	}
	s := unsafe.String(&p[0], len(p))
	if !utf8.ValidString(s) {
		return strings.ToValidUTF8(s, string(utf8.RuneError))
	}
	return s
}
