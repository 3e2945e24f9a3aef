package openapi

import (
	"bytes"
	"encoding/json"
	"iter"
	"strconv"
)

// An object is a JSON object with ordered members, because documents are compared and hashed by
// their bytes. A member's value is a string, bool, int64, float64, object, entries, []any or
// []string.
type object []member

type member struct {
	name  string
	value any
}

// entries yields the members of a large object while it is written, so that no document is held in
// memory as a tree.
type entries iter.Seq2[string, object]

func (o object) with(name string, value any) object { return append(o, member{name, value}) }

func (o object) withText(name, text string) object {
	if text == "" {
		return o
	}
	return o.with(name, text)
}

func (o object) get(name string) any {
	for i := range o {
		if o[i].name == name {
			return o[i].value
		}
	}
	return nil
}

// appendJSON appends a value as JSON. It panics for types that object does not allow.
func appendJSON(b []byte, v any) []byte {
	switch v := v.(type) {
	case string:
		return appendText(b, v)
	case bool:
		return strconv.AppendBool(b, v)
	case int64:
		return strconv.AppendInt(b, v, 10)
	case float64:
		return strconv.AppendFloat(b, v, 'g', -1, 64)
	case object:
		return appendMembers(b, func(yield func(string, any) bool) {
			for _, m := range v {
				if !yield(m.name, m.value) {
					return
				}
			}
		})
	case entries:
		return appendMembers(b, func(yield func(string, any) bool) {
			for name, o := range v {
				if !yield(name, o) {
					return
				}
			}
		})
	case nil:
		return append(b, "null"...)
	case []string:
		return appendItems(b, v)
	case []any:
		return appendItems(b, v)
	}
	panic("unsupported type of a value")
}

func appendMembers(b []byte, members iter.Seq2[string, any]) []byte {
	b = append(b, '{')
	first := true
	for name, v := range members {
		if !first {
			b = append(b, ',')
		}
		first = false
		b = appendText(b, name)
		b = append(b, ':')
		b = appendJSON(b, v)
	}
	return append(b, '}')
}

func appendItems[T any](b []byte, items []T) []byte {
	b = append(b, '[')
	for i, v := range items {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendJSON(b, v)
	}
	return append(b, ']')
}

// appendText appends a string. Unlike in API objects, <, > and & are not escaped, because
// descriptions contain many.
func appendText(b []byte, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' {
			return appendEscaped(b, text)
		}
	}
	b = append(b, '"')
	b = append(b, text...)
	return append(b, '"')
}

func appendEscaped(b []byte, text string) []byte {
	var escaped bytes.Buffer
	encoder := json.NewEncoder(&escaped)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(text); err != nil {
		panic(err) // strings always encode
	}
	return append(b, bytes.TrimSuffix(escaped.Bytes(), []byte("\n"))...)
}
