package codec

import (
	"cmp"
	"encoding/base64"
	"math"
	"slices"
	"strconv"
	"sync"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/troupe-api/troupe/kinds/jsontext"
	"github.com/troupe-api/troupe/kinds/schema"
)

// AppendProtobuf appends a JSON document as Protobuf, without an envelope. m describes its fields.
// This server's encoder must have written the document. A value that does not fit its field is an
// error.
//
// The conversion takes one pass, without a tree, and yields the same bytes as kube-apiserver.
// Fields are sorted by number and map entries by key. Absent fields are written if they are values
// rather than pointers in the Kubernetes Go type. Fields that have no number, or that m lacks, are
// omitted.
func AppendProtobuf(b []byte, m *schema.Message, json []byte) ([]byte, error) {
	e := wireEncoders.Get().(*wireEncoder)
	e.Scanner, e.b = jsontext.Over(json), b
	e.Limit = jsontext.MaxStoredDepth
	err := e.document(m)
	b = e.b
	e.release()
	return b, err
}

type wireEncoder struct {
	jsontext.Scanner
	b       []byte
	parts   []wirePart // parts of the open messages and maps, innermost last
	scratch []byte
}

// A wirePart is the piece b[start:end] of the output. It contains the field with the given rank in
// the output order or, in a map, the entry with the given key.
type wirePart struct {
	rank       int
	key        string
	start, end int
}

var wireEncoders = sync.Pool{New: func() any { return new(wireEncoder) }}

func (e *wireEncoder) release() {
	parts, scratch := e.parts[:cap(e.parts)], e.scratch[:0]
	*e = wireEncoder{}
	if cap(scratch) <= maxPooled && len(parts) <= maxPooled/8 {
		clear(parts) // their keys share the memory of the document
		e.parts, e.scratch = parts[:0], scratch
	}
	wireEncoders.Put(e)
}

func (e *wireEncoder) document(m *schema.Message) error {
	if e.Peek() != '{' {
		return e.mismatch(m.Name)
	}
	if err := e.message(m); err != nil {
		return err
	}
	return e.End()
}

func (e *wireEncoder) mismatch(field string) error {
	return typeError("json: cannot put a value of type " + typeOfByte(e.Current()) + " into " + field)
}

// message writes fields in JSON order, with zero values for absent fields. If JSON order differs
// from the order of field numbers, arrange reorders the fields afterward.
func (e *wireEncoder) message(m *schema.Message) error {
	w := wireOf(m)
	if err := e.Open(); err != nil {
		return err
	}
	start, base := len(e.b), len(e.parts)
	next, inOrder := 0, !w.nested // next rank; whether ranks have been ascending so far
	for i, first := 0, true; ; first = false {
		key, more, err := e.Key(first)
		if err != nil {
			return err
		}
		if !more {
			break
		}
		leaf := w.leaf(key, &i)
		if leaf == nil {
			if err := e.Skip(); err != nil {
				return err
			}
			continue
		}
		if inOrder = inOrder && leaf.rank >= next; inOrder {
			e.zeros(w, next, leaf.rank)
			next = leaf.rank + 1
		}
		at := len(e.b)
		if err := e.field(leaf.number, leaf.field); err != nil {
			return err
		}
		if len(e.b) == at && leaf.emitsZero() {
			e.zero(leaf.number, leaf.field)
		}
		e.parts = append(e.parts, wirePart{rank: leaf.rank, start: at, end: len(e.b)})
	}
	if inOrder {
		e.zeros(w, next, len(w.ranked))
	} else {
		e.arrange(w, e.parts[base:], start)
	}
	e.parts = e.parts[:base]
	return nil
}

func (e *wireEncoder) zeros(w *wireMessage, next, end int) {
	for _, leaf := range w.ranked[next:end] {
		if leaf.emitsZero() {
			e.zero(leaf.number, leaf.field)
		}
	}
}

func (e *wireEncoder) arrange(w *wireMessage, parts []wirePart, start int) {
	slices.SortStableFunc(parts, func(a, b wirePart) int { return cmp.Compare(a.rank, b.rank) })
	e.scratch = append(e.scratch[:0], e.b[start:]...)
	e.b = e.b[:start]
	e.nodes(w.nodes, parts, start)
}

// nodes appends the encoded fields of nodes in their order, and returns the remaining parts. It
// copies the fields from scratch, a copy of b[start:] from before sorting.
func (e *wireEncoder) nodes(nodes []*wireNode, parts []wirePart, start int) []wirePart {
	for _, n := range nodes {
		switch {
		case n.inner != nil:
			var at int
			e.b, at = openWire(e.b, n.number)
			parts = e.nodes(n.inner.nodes, parts, start)
			e.b = closeWire(e.b, at)
		case len(parts) > 0 && parts[0].rank == n.rank:
			for ; len(parts) > 0 && parts[0].rank == n.rank; parts = parts[1:] {
				e.b = append(e.b, e.scratch[parts[0].start-start:parts[0].end-start]...)
			}
		case n.emitsZero():
			e.zero(n.number, n.field)
		}
	}
	return parts
}

func (e *wireEncoder) field(number int32, f *schema.Field) error {
	switch c := e.Peek(); {
	case c == 'n':
		return e.Literal("null")
	case f.Shape == schema.Single:
		return e.single(number, f)
	case f.Shape == schema.List && c == '[':
		return e.list(func() error { return e.element(number, f) })
	case f.Shape == schema.Map && c == '{':
		return e.mapField(number, f)
	}
	return e.mismatch(f.Name)
}

func (e *wireEncoder) list(element func() error) error {
	if err := e.Open(); err != nil {
		return err
	}
	for first := true; ; first = false {
		more, err := e.Element(first)
		if err != nil || !more {
			return err
		}
		if err := element(); err != nil {
			return err
		}
	}
}

func (e *wireEncoder) element(number int32, f *schema.Field) error {
	if e.Peek() == 'n' {
		e.zero(number, f)
		return e.Literal("null")
	}
	return e.single(number, f)
}

func (e *wireEncoder) mapField(number int32, f *schema.Field) error {
	if err := e.Open(); err != nil {
		return err
	}
	start, base, sorted := len(e.b), len(e.parts), true
	for first := true; ; first = false {
		key, more, err := e.Key(first)
		if err != nil {
			return err
		}
		if !more {
			break
		}
		at := len(e.b)
		var size int
		e.b, size = openWire(e.b, number)
		e.b = appendStringField(e.b, 1, key)
		if err := e.element(2, f); err != nil {
			return err
		}
		e.b = closeWire(e.b, size)
		sorted = sorted && (len(e.parts) == base || e.parts[len(e.parts)-1].key < key)
		e.parts = append(e.parts, wirePart{key: key, start: at, end: len(e.b)})
	}
	if !sorted {
		e.sortEntries(e.parts[base:], start)
	}
	e.parts = e.parts[:base]
	return nil
}

func (e *wireEncoder) sortEntries(entries []wirePart, start int) {
	slices.SortStableFunc(entries, func(a, b wirePart) int { return cmp.Compare(a.key, b.key) })
	e.scratch = append(e.scratch[:0], e.b[start:]...)
	e.b = e.b[:start]
	for _, p := range entries {
		e.b = append(e.b, e.scratch[p.start-start:p.end-start]...)
	}
}

func (e *wireEncoder) single(number int32, f *schema.Field) error {
	switch f.Type {
	case schema.TypeBool:
		return e.bool(number, f)
	case schema.TypeInt32, schema.TypeInt64, schema.TypeDouble:
		return e.number(number, f)
	case schema.TypeString:
		s, err := e.text(f)
		e.b = appendStringField(e.b, number, s)
		return err
	}
	var at int
	e.b, at = openWire(e.b, number)
	err := e.delimited(f)
	e.b = closeWire(e.b, at)
	return err
}

func (e *wireEncoder) text(f *schema.Field) (string, error) {
	if e.Peek() != '"' {
		return "", e.mismatch(f.Name)
	}
	return e.ReadString()
}

func (e *wireEncoder) bool(number int32, f *schema.Field) error {
	word := "false"
	switch e.Peek() {
	case 't':
		word = "true"
	case 'f':
	default:
		return e.mismatch(f.Name)
	}
	e.b = appendVarintField(e.b, number, protowire.EncodeBool(word == "true"))
	return e.Literal(word)
}

// number appends a number. A negative int32 takes ten bytes, as Protobuf requires.
func (e *wireEncoder) number(number int32, f *schema.Field) error {
	if f.Type != schema.TypeDouble {
		n, err := e.integer(f)
		e.b = appendVarintField(e.b, number, uint64(n))
		return err
	}
	literal, err := e.literal(f)
	if err != nil {
		return err
	}
	n, err := strconv.ParseFloat(literal, 64)
	e.b = protowire.AppendFixed64(appendTag(e.b, number, protowire.Fixed64Type), math.Float64bits(n))
	return err
}

func (e *wireEncoder) literal(f *schema.Field) (string, error) {
	if c := e.Peek(); c != '-' && !jsontext.IsDigit(c) {
		return "", e.mismatch(f.Name)
	}
	return e.ReadNumber()
}

func (e *wireEncoder) integer(f *schema.Field) (int64, error) {
	literal, err := e.literal(f)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(literal, 10, 64)
}

func (e *wireEncoder) delimited(f *schema.Field) error {
	switch f.Type {
	case schema.TypeMessage:
		if e.Peek() != '{' {
			return e.mismatch(f.Name)
		}
		return e.message(f.Message)
	case schema.TypeIntOrString:
		return e.intOrString(f)
	case schema.TypeStrings:
		if e.Peek() != '[' {
			return e.mismatch(f.Name)
		}
		return e.list(func() error {
			s, err := e.text(f)
			e.b = appendStringField(e.b, 1, s)
			return err
		})
	case schema.TypeRaw, schema.TypeFields:
		if f.Message != nil {
			return e.union(f)
		}
		return e.verbatim()
	}
	s, err := e.text(f)
	if err != nil {
		return err
	}
	return e.fromText(f.Type, s)
}

func (e *wireEncoder) fromText(t schema.Type, s string) (err error) {
	switch t {
	case schema.TypeBytes:
		e.scratch = append(e.scratch[:0], s...)
		e.b, err = base64.StdEncoding.AppendDecode(e.b, e.scratch)
	case schema.TypeTime:
		e.b, err = appendWireTime(e.b, time.RFC3339, s)
	case schema.TypeMicroTime:
		e.b, err = appendWireTime(e.b, microLayout, s)
	case schema.TypeDuration:
		var d time.Duration
		d, err = time.ParseDuration(s)
		e.b = appendVarintField(e.b, 1, uint64(d))
	case schema.TypeQuantity:
		e.b = appendStringField(e.b, 1, s)
	}
	return err
}

// intOrString writes the type, the number and the string, even if they are empty. For example, the
// number 80 becomes 08 00 10 50 1a 00, and "http" becomes 08 01 10 00 1a 04 68 74 74 70.
func (e *wireEncoder) intOrString(f *schema.Field) (err error) {
	var n int64
	var s string
	isText := e.Peek() == '"'
	if isText {
		s, err = e.ReadString()
	} else {
		n, err = e.integer(f)
	}
	e.b = appendIntOrString(e.b, isText, n, s)
	return err
}

func (e *wireEncoder) verbatim() error {
	e.Peek()
	start := e.Pos
	if err := e.Skip(); err != nil {
		return err
	}
	e.b = appendStringField(e.b, 1, e.Text[start:e.Pos])
	return nil
}

func (e *wireEncoder) zero(number int32, f *schema.Field) {
	switch f.Type {
	case schema.TypeString:
		e.b = appendStringField(e.b, number, "")
		return
	case schema.TypeBool, schema.TypeInt32, schema.TypeInt64:
		e.b = appendVarintField(e.b, number, 0)
		return
	case schema.TypeDouble:
		e.b = protowire.AppendFixed64(appendTag(e.b, number, protowire.Fixed64Type), 0)
		return
	}
	var at int
	e.b, at = openWire(e.b, number)
	switch f.Type {
	case schema.TypeMessage:
		w := wireOf(f.Message)
		e.nodes(w.nodes, nil, 0)
	case schema.TypeDuration:
		e.b = appendVarintField(e.b, 1, 0)
	case schema.TypeQuantity:
		e.b = appendStringField(e.b, 1, "0")
	case schema.TypeIntOrString:
		e.b = appendIntOrString(e.b, false, 0, "")
	case schema.TypeFields:
		e.b = appendStringField(e.b, 1, "")
	case schema.TypeRaw:
		if f.Message != nil {
			e.nodes(wireOf(f.Message).nodes, nil, 0)
		}
	}
	e.b = closeWire(e.b, at)
}

// openWire begins a nested message. closeWire(b, at) later fills in its length.
func openWire(b []byte, number int32) (out []byte, at int) {
	b = appendTag(b, number, protowire.BytesType)
	return append(b, 0), len(b)
}

// closeWire fills in the length of the message that openWire began. It moves a message whose length
// needs more than the one reserved byte, which is cheaper than measuring every message first.
func closeWire(b []byte, at int) []byte {
	n := uint64(len(b) - at - 1)
	if n < 0x80 {
		b[at] = byte(n)
		return b
	}
	var space [10]byte
	extra := protowire.SizeVarint(n) - 1
	b = append(b, space[:extra]...)
	copy(b[at+1+extra:], b[at+1:len(b)-extra])
	protowire.AppendVarint(b[:at], n)
	return b
}

func appendTag(b []byte, number int32, t protowire.Type) []byte {
	return protowire.AppendTag(b, protowire.Number(number), t)
}

func appendVarintField(b []byte, number int32, n uint64) []byte {
	return protowire.AppendVarint(appendTag(b, number, protowire.VarintType), n)
}

func appendStringField(b []byte, number int32, s string) []byte {
	return protowire.AppendString(appendTag(b, number, protowire.BytesType), s)
}

func appendWireTime(b []byte, layout, s string) ([]byte, error) {
	at, err := time.Parse(layout, s)
	if err != nil || at.IsZero() {
		return b, err
	}
	b = appendVarintField(b, 1, uint64(at.Unix()))
	return appendVarintField(b, 2, uint64(at.Nanosecond())), nil
}

func appendIntOrString(b []byte, isText bool, n int64, s string) []byte {
	b = appendVarintField(b, 1, protowire.EncodeBool(isText))
	b = appendVarintField(b, 2, uint64(n))
	return appendStringField(b, 3, s)
}
