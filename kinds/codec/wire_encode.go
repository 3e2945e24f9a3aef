package codec

import (
	"encoding/base64"
	"math"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// EncodeProtobuf appends the Protobuf form of a message, without envelope.
func EncodeProtobuf(b []byte, m *schema.Message, t tree.Tree) []byte {
	return appendWire(b, wireOf(m), t)
}

func appendWire(b []byte, w *wireMessage, t tree.Tree) []byte {
	for _, n := range w.nodes {
		if n.inner == nil {
			b = appendWireField(b, n.number, n.field, t[n.field.Name])
			continue
		}
		var at int
		b, at = openWire(b, n.number)
		b = appendWire(b, n.inner, t)
		b = closeWire(b, at)
	}
	return b
}

// openWire begins a nested message; closeWire puts its length in at the offset at.
func openWire(b []byte, number int32) (out []byte, at int) {
	b = appendTag(b, number, protowire.BytesType)
	return append(b, 0), len(b)
}

// closeWire puts the length of a message before it. One byte was left for it, which is enough for most;
// longer messages are moved. That is cheaper than measuring every message before it is written.
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

// appendWireField appends a field of any shape; v is nil if it is absent.
func appendWireField(b []byte, number int32, f *schema.Field, v any) []byte {
	switch f.Shape {
	case schema.List:
		items, _ := v.([]any)
		for _, item := range items {
			b = appendWireValue(b, number, f, item)
		}
		return b
	case schema.Map:
		entries, _ := v.(tree.Tree)
		var space [16]string
		for _, key := range sortedKeys(space[:0], entries) {
			var at int
			b, at = openWire(b, number)
			b = appendTag(b, 1, protowire.BytesType)
			b = protowire.AppendString(b, key)
			b = appendWireValue(b, 2, f, entries[key])
			b = closeWire(b, at)
		}
		return b
	}
	if v == nil && !f.WireEmitEmpty {
		return b
	}
	return appendWireValue(b, number, f, v)
}

// appendWireValue appends one value; nil means the zero value.
func appendWireValue(b []byte, number int32, f *schema.Field, v any) []byte {
	switch f.Type {
	case schema.TypeString:
		s, _ := v.(string)
		return protowire.AppendString(appendTag(b, number, protowire.BytesType), s)
	case schema.TypeBool:
		on, _ := v.(bool)
		return protowire.AppendVarint(appendTag(b, number, protowire.VarintType), protowire.EncodeBool(on))
	case schema.TypeInt32, schema.TypeInt64:
		n, _ := v.(int64)
		return protowire.AppendVarint(appendTag(b, number, protowire.VarintType), uint64(n))
	case schema.TypeDouble:
		n, _ := v.(float64)
		return protowire.AppendFixed64(appendTag(b, number, protowire.Fixed64Type), math.Float64bits(n))
	}
	b, at := openWire(b, number)
	switch f.Type {
	case schema.TypeMessage:
		object, _ := v.(tree.Tree)
		b = appendWire(b, wireOf(f.Message), object)
	case schema.TypeBytes:
		s, _ := v.(string)
		if out, err := base64.StdEncoding.AppendDecode(b, []byte(s)); err == nil {
			b = out
		}
	case schema.TypeTime:
		b = appendWireTime(b, time.RFC3339, v)
	case schema.TypeMicroTime:
		b = appendWireTime(b, microLayout, v)
	case schema.TypeDuration:
		s, _ := v.(string)
		d, _ := time.ParseDuration(s)
		b = appendVarintField(b, 1, uint64(d))
	case schema.TypeQuantity:
		s, _ := v.(string)
		if s == "" {
			s = "0"
		}
		b = appendStringField(b, 1, s)
	case schema.TypeIntOrString:
		b = appendIntOrString(b, v)
	case schema.TypeStrings:
		list, _ := v.([]any)
		for _, item := range list {
			s, _ := item.(string)
			b = appendStringField(b, 1, s)
		}
	case schema.TypeFields:
		s, _ := v.(string)
		b = appendStringField(b, 1, s)
	case schema.TypeRaw:
		if f.Message != nil {
			b = appendWireUnion(b, f.Message, v)
		} else {
			b = appendWireRaw(b, v)
		}
	}
	return closeWire(b, at)
}

func appendVarintField(b []byte, number int32, n uint64) []byte {
	return protowire.AppendVarint(appendTag(b, number, protowire.VarintType), n)
}

func appendStringField(b []byte, number int32, s string) []byte {
	return protowire.AppendString(appendTag(b, number, protowire.BytesType), s)
}

// appendWireTime appends the fields of a time; an absent one has none.
func appendWireTime(b []byte, layout string, v any) []byte {
	s, _ := v.(string)
	at, err := time.Parse(layout, s)
	if err != nil || at.IsZero() {
		return b
	}
	b = appendVarintField(b, 1, uint64(at.Unix()))
	return appendVarintField(b, 2, uint64(at.Nanosecond()))
}

// appendIntOrString appends the fields of an int-or-string, all of them whatever it is.
func appendIntOrString(b []byte, v any) []byte {
	n, _ := v.(int64)
	s, isText := v.(string)
	b = appendVarintField(b, 1, protowire.EncodeBool(isText))
	b = appendVarintField(b, 2, uint64(n))
	return appendStringField(b, 3, s)
}

// appendWireRaw appends a value as JSON text.
func appendWireRaw(b []byte, v any) []byte {
	if v == nil {
		return b
	}
	b, at := openWire(b, 1)
	return closeWire(AppendAny(b, v), at)
}
