package codec

import (
	"bytes"
	"encoding/base64"
	"errors"
	"slices"
	"strconv"
	"sync"

	"github.com/troupe-api/troupe/kinds/jsontext"
	"github.com/troupe-api/troupe/kinds/schema"
)

// AppendCBOR appends a JSON document as CBOR, with the self-describing tag. m is the document's
// message, or nil. Without a message, bytes cannot be distinguished from strings, nor
// floating-point numbers from integers.
//
// Equal documents have equal bytes, because heads are as short as possible and maps are sorted by
// the bytes of their keys (RFC 8949, 4.2.1). Strings are byte strings, as in kube-apiserver.
func AppendCBOR(b []byte, m *schema.Message, json []byte) ([]byte, error) {
	return AppendCBORItem(append(b, selfDescribedCBOR...), m, json)
}

// AppendCBORItem is AppendCBOR without the tag, for nested items.
func AppendCBORItem(b []byte, m *schema.Message, json []byte) ([]byte, error) {
	e := cborEncoders.Get().(*cborEncoder)
	e.Scanner, e.b = jsontext.Over(json), b
	e.Limit = jsontext.MaxStoredDepth
	err := e.document(m)
	if err == nil {
		err = e.End()
	}
	b = e.b
	e.release()
	return b, err
}

// AppendCBOREvent appends a watch event up to its object, which the caller appends. eventType is a
// type such as "ADDED".
func AppendCBOREvent(b []byte, eventType string) []byte {
	b = appendCBORHead(append(b, selfDescribedCBOR...), cborMap, 2)
	b = appendCBORString(appendCBORString(b, "type"), eventType)
	return appendCBORString(b, "object")
}

// SplitCBORList returns the bytes before and after the n items of a list, which the caller appends
// with AppendCBORItem. frame is the list as JSON, with an empty list in field.
//
// SplitCBORList searches the encoded frame for the name of field followed by an empty list. The
// name may also occur as a value, but never directly before an empty list.
func SplitCBORList(frame []byte, field string, n int) (before, after []byte, err error) {
	whole, err := AppendCBOR(nil, nil, frame)
	if err != nil {
		return nil, nil, err
	}
	key := appendCBORString(nil, field)
	before, after, ok := bytes.Cut(whole, append(key, cborArray<<5))
	if !ok {
		return nil, nil, errors.New("a list has no field " + field)
	}
	before = append(before[:len(before):len(before)], key...)
	return appendCBORHead(before, cborArray, uint64(n)), after, nil
}

// A cborEncoder converts JSON to CBOR, value by value. It fails only for malformed JSON, because
// this package's encoder wrote the input.
type cborEncoder struct {
	jsontext.Scanner
	b       []byte
	pairs   []int // offsets in b of the pairs of the open objects, innermost last
	scratch []byte
}

var cborEncoders = sync.Pool{New: func() any { return new(cborEncoder) }}

func (e *cborEncoder) release() {
	pairs, scratch := e.pairs[:0], e.scratch[:0]
	*e = cborEncoder{}
	if cap(scratch) <= maxPooled && cap(pairs) <= maxPooled {
		e.pairs, e.scratch = pairs, scratch
	}
	cborEncoders.Put(e)
}

// document encodes the whole document. It ignores the message of a custom object, which covers only
// the metadata, without bytes or floating-point numbers.
func (e *cborEncoder) document(m *schema.Message) error {
	if m == nil || m.Custom != nil || e.Peek() != '{' {
		return e.any()
	}
	return e.message(m)
}

func (e *cborEncoder) message(m *schema.Message) error {
	return e.object(func(key string) error {
		if f := m.Field(key); f != nil {
			return e.field(f)
		}
		return e.any()
	})
}

func (e *cborEncoder) object(value func(key string) error) error {
	if err := e.Open(); err != nil {
		return err
	}
	start, base := e.begin(cborMap), len(e.pairs)
	for first := true; ; first = false {
		key, more, err := e.Key(first)
		if err != nil {
			return err
		}
		if !more {
			break
		}
		e.pairs = append(e.pairs, len(e.b))
		e.b = appendCBORString(e.b, key)
		if err := value(key); err != nil {
			return err
		}
	}
	pairs := e.pairs[base:]
	e.sort(pairs)
	e.end(start, cborMap, len(pairs))
	e.pairs = e.pairs[:base]
	return nil
}

// begin reserves one byte for the head of a map or array of unknown length. end writes the head.
func (e *cborEncoder) begin(major byte) int {
	e.b = append(e.b, major<<5)
	return len(e.b)
}

// end writes the head. It moves the content of a value with more than 23 items, whose head does not
// fit into the byte that begin reserved.
func (e *cborEncoder) end(start int, major byte, n int) {
	if n < cborArgument8 {
		e.b[start-1] |= byte(n)
		return
	}
	var space [9]byte
	head := appendCBORHead(space[:0], major, uint64(n))
	e.b = slices.Insert(e.b, start, head[1:]...)
	e.b[start-1] = head[0]
}

// sort sorts the pairs at the given offsets by their encoded bytes. The last pair ends at the end
// of b. This sorts the keys too, because an encoded key begins with its length and keys are unique.
func (e *cborEncoder) sort(pairs []int) {
	if len(pairs) < 2 {
		return
	}
	start, end := pairs[0], len(e.b)
	pair := func(i int) []byte {
		if i+1 < len(pairs) {
			return e.b[pairs[i]:pairs[i+1]]
		}
		return e.b[pairs[i]:end]
	}
	var space [32]int
	order, sorted := space[:0], true
	for i := range pairs {
		order = append(order, i)
		sorted = sorted && (i == 0 || bytes.Compare(pair(i-1), pair(i)) < 0)
	}
	if sorted {
		return
	}
	slices.SortFunc(order, func(i, j int) int { return bytes.Compare(pair(i), pair(j)) })
	e.scratch = e.scratch[:0]
	for _, i := range order {
		e.scratch = append(e.scratch, pair(i)...)
	}
	copy(e.b[start:], e.scratch)
}

func (e *cborEncoder) list(element func() error) error {
	if err := e.Open(); err != nil {
		return err
	}
	start, n := e.begin(cborArray), 0
	for ; ; n++ {
		more, err := e.Element(n == 0)
		if err != nil {
			return err
		}
		if !more {
			e.end(start, cborArray, n)
			return nil
		}
		if err := element(); err != nil {
			return err
		}
	}
}

func (e *cborEncoder) field(f *schema.Field) error {
	switch c := e.Peek(); {
	case f.Shape == schema.List && c == '[':
		return e.list(func() error { return e.single(f) })
	case f.Shape == schema.Map && c == '{':
		return e.object(func(string) error { return e.single(f) })
	}
	return e.single(f)
}

func (e *cborEncoder) single(f *schema.Field) error {
	c := e.Peek()
	switch {
	case c == '{' && f.Type == schema.TypeMessage:
		return e.message(f.Message)
	case f.Type == schema.TypeRaw && f.Message != nil:
		if inner := unionFieldFor(f.Message, c); inner != nil {
			return e.field(inner)
		}
	case c == '"' && f.Type == schema.TypeBytes:
		return e.bytes()
	case f.Type == schema.TypeDouble && (c == '-' || jsontext.IsDigit(c)):
		literal, err := e.ReadNumber()
		if err == nil {
			err = e.float(literal)
		}
		return err
	}
	return e.any()
}

func (e *cborEncoder) bytes() error {
	text, err := e.ReadString()
	if err != nil {
		return err
	}
	e.scratch = append(e.scratch[:0], text...)
	src := e.scratch
	if e.scratch, err = base64.StdEncoding.AppendDecode(src, src); err != nil {
		return err
	}
	raw := e.scratch[len(src):]
	e.b = appendCBORHead(e.b, cborTag, tagBase64)
	e.b = append(appendCBORHead(e.b, cborBytes, uint64(len(raw))), raw...)
	return nil
}

func (e *cborEncoder) any() error {
	switch c := e.Peek(); {
	case c == '"':
		s, err := e.ReadString()
		e.b = appendCBORString(e.b, s)
		return err
	case c == '{':
		return e.object(func(string) error { return e.any() })
	case c == '[':
		return e.list(e.any)
	case c == 't':
		e.b = appendCBORHead(e.b, cborSimple, cborTrue)
		return e.Literal("true")
	case c == 'f':
		e.b = appendCBORHead(e.b, cborSimple, cborFalse)
		return e.Literal("false")
	case c == 'n':
		e.b = appendCBORHead(e.b, cborSimple, cborNull)
		return e.Literal("null")
	case c == '-' || jsontext.IsDigit(c):
		return e.number()
	}
	return e.Unexpected("looking for beginning of value")
}

func (e *cborEncoder) number() error {
	literal, err := e.ReadNumber()
	if err != nil {
		return err
	}
	if n, err := strconv.ParseInt(literal, 10, 64); err == nil {
		e.b = appendCBORInt(e.b, n)
		return nil
	}
	return e.float(literal)
}

func (e *cborEncoder) float(literal string) error {
	n, err := strconv.ParseFloat(literal, 64)
	e.b = appendCBORFloat(e.b, n)
	return err
}
