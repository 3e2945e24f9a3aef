package codec

import (
	"slices"
	"strconv"

	"github.com/troupe-api/troupe/kinds/jsontext"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// An encoder appends JSON to b.
//
// It cannot fail: what JSON has no form for becomes null. Once it is full, lists and maps end early and
// without their brackets; what was written is then of no use, and the caller drops it.
type encoder struct {
	b             []byte
	versionOffset int
	limit         int // bytes of b from which on the rest may be left out; 0 for none
}

// full tells whether b has grown beyond the limit.
func (e *encoder) full() bool { return e.limit > 0 && len(e.b) > e.limit }

// object writes a whole object, with the kind and apiVersion of k whatever the tree says.
//
// Kind and apiVersion come first, then the metadata. Lists, which leave kind and apiVersion out of their
// items, write an object from its metadata on: schema.Kind.ItemOffset is how many bytes that skips.
func (e *encoder) object(k *schema.Kind, t tree.Tree) {
	e.raw(`{"kind":`)
	e.text(k.Kind)
	e.raw(`,"apiVersion":`)
	e.text(k.APIVersion())
	for _, f := range k.Message().Fields {
		switch f.Name {
		case "kind", "apiVersion":
		case "metadata":
			e.raw(`,"metadata":`)
			meta, _ := t["metadata"].(tree.Tree)
			e.metadata(f.Message, meta)
		default:
			if k.Message().Custom == nil {
				e.member(f, t[f.Name])
			}
		}
	}
	if k.Message().Custom != nil {
		e.custom(t)
	}
	e.raw("}")
}

// metadata writes an object's metadata with an empty resourceVersion, and notes where that is.
//
// Which version the object gets is known when it is committed. Then WithVersion copies the bytes with the
// digits in this place, instead of encoding the object again.
func (e *encoder) metadata(m *schema.Message, t tree.Tree) {
	e.raw("{")
	for _, f := range m.Fields {
		if f.Name == "resourceVersion" {
			e.name(f)
			e.raw(`""`)
			e.versionOffset = len(e.b) - 1
			continue
		}
		e.member(f, t[f.Name])
	}
	e.raw("}")
}

// message writes an object by the plan m.
//
// Most messages have few of the many fields of their plan. Once all values of t are written, only fields
// that are written even when absent are still looked at.
func (e *encoder) message(m *schema.Message, t tree.Tree) {
	e.raw("{")
	left := len(t) // values that are still to be written
	for _, f := range m.Fields {
		if left == 0 && !f.EmitEmpty {
			continue
		}
		v, ok := t[f.Name]
		if ok {
			left--
		}
		e.member(f, v)
	}
	e.raw("}")
}

// member writes a field with its value, or nothing if it is to be left out.
func (e *encoder) member(f *schema.Field, v any) {
	if v == nil {
		if f.EmitEmpty {
			e.name(f)
			e.emptyValue(f)
		}
		return
	}
	if !f.EmitEmpty && !f.Pointer && isEmpty(f, v) {
		return
	}
	e.name(f)
	e.value(f, v)
}

// isEmpty tells whether a value is what a field without a pointer leaves out.
//
// A raw value or an int-or-string is never empty: a 0 or a "" is what a client has chosen. The same holds for an object of a single message, even without fields.
func isEmpty(f *schema.Field, v any) bool {
	if f.Shape == schema.Single && (f.Type == schema.TypeRaw || f.Type == schema.TypeIntOrString) {
		return false
	}
	switch v := v.(type) {
	case string:
		return v == ""
	case int64:
		return v == 0
	case bool:
		return !v
	case float64:
		return v == 0
	case []any:
		return len(v) == 0
	case tree.Tree:
		return f.Shape == schema.Map && len(v) == 0
	}
	return false
}

// emptyValue writes an absent field that is always written.
//
// The values are those that Go's encoder writes for the zero value of the type.
func (e *encoder) emptyValue(f *schema.Field) {
	switch {
	case f.Pointer || f.Shape != schema.Single:
		e.raw("null")
	case f.Type == schema.TypeMessage:
		e.message(f.Message, nil)
	case f.Type == schema.TypeString:
		e.raw(`""`)
	case f.Type == schema.TypeQuantity:
		e.raw(`"0"`)
	case f.Type == schema.TypeDuration:
		e.raw(`"0s"`)
	case f.Type == schema.TypeBool:
		e.raw("false")
	case f.Type == schema.TypeInt32, f.Type == schema.TypeInt64, f.Type == schema.TypeDouble, f.Type == schema.TypeIntOrString:
		e.raw("0")
	default:
		e.raw("null")
	}
}

// value writes the value of a field of any shape.
func (e *encoder) value(f *schema.Field, v any) {
	switch f.Shape {
	case schema.List:
		e.list(f, v)
	case schema.Map:
		e.mapField(f, v)
	default:
		e.single(f, v)
	}
}

// single writes one value of the type of f, whatever its shape. A value of a wrong type must not occur,
// but then still makes valid JSON.
//
// A set of fields is JSON text in the tree, and goes out as it is.
func (e *encoder) single(f *schema.Field, v any) {
	if f.Type == schema.TypeMessage {
		object, _ := v.(tree.Tree)
		e.message(f.Message, object)
		return
	}
	if f.Message != nil {
		e.union(f.Message, v)
		return
	}
	if f.Type == schema.TypeFields {
		text, _ := v.(string)
		e.raw(text)
		return
	}
	e.any(v)
}

// list writes a list, or as much of it as is wanted.
func (e *encoder) list(f *schema.Field, v any) {
	list, _ := v.([]any)
	e.raw("[")
	for i, item := range list {
		if e.full() {
			return
		}
		if i > 0 {
			e.raw(",")
		}
		e.single(f, item)
	}
	e.raw("]")
}

// mapField writes a map by sorted keys.
//
// Up to 16 keys are sorted on the stack.
func (e *encoder) mapField(f *schema.Field, v any) {
	table, _ := v.(tree.Tree)
	var space [16]string
	e.raw("{")
	for i, key := range sortedKeys(space[:0], table) {
		if e.full() {
			return
		}
		if i > 0 {
			e.raw(",")
		}
		e.text(key)
		e.raw(":")
		e.single(f, table[key])
	}
	e.raw("}")
}

// sortedKeys appends the keys of a map in the order of their bytes.
func sortedKeys(keys []string, table tree.Tree) []string {
	for key := range table {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// any writes a value without a plan.
func (e *encoder) any(v any) {
	switch v := v.(type) {
	case string:
		e.text(v)
	case bool:
		e.b = strconv.AppendBool(e.b, v)
	case int64:
		e.b = strconv.AppendInt(e.b, v, 10)
	case float64:
		e.b = appendFloat(e.b, v)
	case tree.Tree:
		e.anyObject(v)
	case []any:
		e.raw("[")
		for i, item := range v {
			if e.full() {
				return
			}
			if i > 0 {
				e.raw(",")
			}
			e.any(item)
		}
		e.raw("]")
	default:
		e.raw("null")
	}
}

// anyObject writes an object without a plan by sorted keys.
func (e *encoder) anyObject(table tree.Tree) {
	var space [16]string
	e.raw("{")
	for i, key := range sortedKeys(space[:0], table) {
		if e.full() {
			return
		}
		if i > 0 {
			e.raw(",")
		}
		e.text(key)
		e.raw(":")
		e.any(table[key])
	}
	e.raw("}")
}

// name writes the key of a field, with the comma before it.
//
// Names come from declarations and need no escapes.
func (e *encoder) name(f *schema.Field) {
	if e.b[len(e.b)-1] != '{' {
		e.b = append(e.b, ',')
	}
	e.b = append(e.b, '"')
	e.b = append(e.b, f.Name...)
	e.b = append(e.b, '"', ':')
}

func (e *encoder) raw(s string) { e.b = append(e.b, s...) }

func (e *encoder) text(s string) { e.b = jsontext.AppendString(e.b, s) }
