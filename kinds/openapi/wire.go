package openapi

import (
	"math"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// A layout maps JSON members to the fields of a Protobuf message of the gnostic models. It is much
// smaller than their generated code.
type layout struct {
	fields map[string]fieldMapping
	// entries describes the values of members that are not in fields, such as the paths of a
	// document. Each such member becomes a message with the name (1) and the value (2).
	entries       *fieldMapping
	entriesNumber protowire.Number
	// extensions is the field number of members that start with "x-", whose values are written as
	// YAML.
	extensions protowire.Number
}

type fieldMapping struct {
	// path begins with the number of a field. Further numbers are fields of nested messages, such
	// as the single-field messages of alternatives.
	path   []protowire.Number
	kind   fieldKind
	layout *layout // for kindMessage
	// alternatives lists the fields of a union. The value selects one, whose path is appended to
	// path.
	alternatives *[]alternative
}

type fieldKind uint8

const (
	kindString  fieldKind = iota
	kindBool              // bool
	kindInt64             // int64
	kindDouble            // double
	kindAny               // a message whose field 2 is the value as YAML; JSON is YAML
	kindStrings           // a message whose field 1 is a list of strings
	kindMessage
)

// Field numbers shared by many messages.
const (
	entryName  protowire.Number = 1
	entryValue protowire.Number = 2
	anyYAML    protowire.Number = 2
	textsValue protowire.Number = 1
)

func (l *layout) append(b []byte, o object) []byte {
	for _, m := range o {
		b = l.member(b, m.name, m.value)
	}
	return b
}

// member appends one member to a message. It skips members that the gnostic models lack.
func (l *layout) member(b []byte, name string, v any) []byte {
	if s, ok := l.fields[name]; ok {
		return s.append(b, v)
	}
	if strings.HasPrefix(name, "x-") && l.extensions != 0 {
		return appendExtension(b, l.extensions, name, v)
	}
	if l.entries != nil {
		return appendEntry(b, l.entriesNumber, name, *l.entries, v)
	}
	return b
}

func appendEntry(b []byte, number protowire.Number, name string, s fieldMapping, v any) []byte {
	entry := protowire.AppendTag(nil, entryName, protowire.BytesType)
	entry = protowire.AppendString(entry, name)
	return appendBytes(b, number, s.append(entry, v))
}

func appendExtension(b []byte, number protowire.Number, name string, v any) []byte {
	entry := protowire.AppendTag(nil, entryName, protowire.BytesType)
	entry = protowire.AppendString(entry, name)
	return appendBytes(b, number, appendBytes(entry, entryValue, appendBytes(nil, anyYAML, appendJSON(nil, v))))
}

func (s fieldMapping) append(b []byte, v any) []byte {
	if s.kind == kindStrings {
		return appendAt(b, s.path, stringList(v), true)
	}
	switch v := v.(type) {
	case []string:
		for _, e := range v {
			b = s.one(b, e)
		}
		return b
	case []any:
		for _, e := range v {
			b = s.one(b, e)
		}
		return b
	}
	return s.one(b, v)
}

func (s fieldMapping) one(b []byte, v any) []byte {
	if s.alternatives != nil {
		picked := s.pick(v)
		picked.path = append(s.path[:len(s.path):len(s.path)], picked.path...)
		return picked.append(b, v)
	}
	switch v := v.(type) {
	case object:
		if s.kind == kindAny {
			break
		}
		return appendAt(b, s.path, s.layout.append(nil, v), true)
	case entries:
		var inner []byte
		for name, o := range v {
			inner = s.layout.member(inner, name, o)
		}
		return appendAt(b, s.path, inner, true)
	}
	// Even an empty value of an alternative is written, because its presence selects the
	// alternative.
	empty := len(s.path) == 1
	switch s.kind {
	case kindString:
		if text := v.(string); text != "" || !empty {
			return appendAt(b, s.path, []byte(text), true)
		}
	case kindBool:
		if v.(bool) || !empty {
			return appendAt(b, s.path, protowire.AppendVarint(nil, protowire.EncodeBool(v.(bool))), false)
		}
	case kindInt64:
		return appendAt(b, s.path, protowire.AppendVarint(nil, uint64(v.(int64))), false)
	case kindDouble:
		return appendNumber(b, s.path, v)
	case kindAny:
		return appendAt(b, s.path, appendBytes(nil, anyYAML, appendJSON(nil, v)), true)
	}
	return b
}

func appendNumber(b []byte, path []protowire.Number, v any) []byte {
	number, ok := v.(float64)
	if !ok {
		number = float64(v.(int64))
	}
	last := len(path) - 1
	field := protowire.AppendTag(nil, path[last], protowire.Fixed64Type)
	field = protowire.AppendFixed64(field, math.Float64bits(number))
	return appendWithin(b, path[:last], field)
}

// appendAt appends a value at the end of a path of field numbers. value contains bytes if
// isBytes is true, and an encoded varint otherwise.
func appendAt(b []byte, path []protowire.Number, value []byte, isBytes bool) []byte {
	last := len(path) - 1
	if !isBytes {
		return appendWithin(b, path[:last], append(protowire.AppendTag(nil, path[last], protowire.VarintType), value...))
	}
	if last == 0 {
		return appendBytes(b, path[0], value)
	}
	return appendWithin(b, path[:last], appendBytes(nil, path[last], value))
}

// appendWithin appends a field at a path of messages. It works from the inside out, because the
// length of a message precedes it.
func appendWithin(b []byte, path []protowire.Number, field []byte) []byte {
	for i := len(path) - 1; i >= 0; i-- {
		field = appendBytes(nil, path[i], field)
	}
	return append(b, field...)
}

func appendBytes(b []byte, number protowire.Number, value []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, number, protowire.BytesType), value)
}

func stringList(v any) (b []byte) {
	list, ok := v.([]string)
	if !ok {
		list = []string{v.(string)}
	}
	for _, t := range list {
		b = protowire.AppendString(protowire.AppendTag(b, textsValue, protowire.BytesType), t)
	}
	return b
}
