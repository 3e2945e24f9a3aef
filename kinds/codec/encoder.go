package codec

import (
	"slices"
	"strconv"

	"github.com/troupe-api/troupe/kinds/jsontext"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// An encoder appends JSON to b. It cannot fail, because values that JSON cannot express become
// null. Once b exceeds limit, the encoder stops in the middle of lists and maps, and the caller
// discards the output.
type encoder struct {
	b             []byte
	versionOffset int
	limit         int // maximum size of b; 0 for none
}

func (e *encoder) full() bool { return e.limit > 0 && len(e.b) > e.limit }

// object writes a whole object. It begins with the kind and apiVersion of k, so that list items can
// omit them by skipping the first schema.Kind.ItemOffset bytes.
func (e *encoder) object(k *schema.Kind, t tree.Tree) {
	e.b = appendHead(e.b, k)
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

func appendHead(b []byte, k *schema.Kind) []byte {
	b = append(append(b, `{"kind":"`...), k.Kind...)
	return append(append(append(b, `","apiVersion":"`...), k.APIVersion()...), '"')
}

// metadata writes an empty resourceVersion and records its offset, so that WithVersion can insert
// the version at commit without encoding again.
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

// message writes an object. After all values of t are written, it visits only EmitEmpty fields,
// because most objects set few fields.
func (e *encoder) message(m *schema.Message, t tree.Tree) {
	e.raw("{")
	left := len(t)
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

// isEmpty reports whether the encoder omits the value v of a non-pointer field. It never omits raw
// values, int-or-strings and single messages, even if they are empty, because the client set them.
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

// single writes one value or element of a field. Even a value of the wrong type, which should not
// occur, yields valid JSON.
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

func sortedKeys(keys []string, table tree.Tree) []string {
	for key := range table {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

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
