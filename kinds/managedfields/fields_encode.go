package managedfields

import (
	"slices"
	"strings"
	"sync"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A fieldsEncoder writes an object's fields as FieldsV1 without building a Set, which would take
// several times as much memory. With asEncoded, it writes the fields that the object's creator
// owns, including the paths of objects and lists. The output is deterministic, so repeated applies
// are recognized by their bytes.
type fieldsEncoder struct {
	b         []byte
	keys      []byte // keys of the items of open lists
	asEncoded bool
}

var fieldsEncoders = sync.Pool{New: func() any { return new(fieldsEncoder) }}

// encodeFields returns fields(m, t, s) as FieldsV1. With asEncoded, it returns the fields that the
// creator of t owns.
func encodeFields(m *schema.Message, t tree.Tree, s excludedFields, asEncoded bool) string {
	const maxPooled = 1 << 16 // largest pooled buffer, in bytes
	w := fieldsEncoders.Get().(*fieldsEncoder)
	w.asEncoded = asEncoded
	w.object(m, t, s)
	text := string(w.b)
	if w.b, w.keys = w.b[:0], w.keys[:0]; cap(w.b)+cap(w.keys) <= maxPooled {
		fieldsEncoders.Put(w)
	}
	return text
}

func (w *fieldsEncoder) object(m *schema.Message, t tree.Tree, s excludedFields) {
	w.b = append(w.b, '{')
	for _, f := range fieldsOf(m, t, nil) {
		switch v := t[f.Name]; {
		case v == nil || s.excludesField(f.Name):
		case f.Name == "metadata":
			metadata, _ := v.(tree.Tree)
			w.metadata(f, metadata, s)
		case !declares(m, f):
			w.node(fieldElement(f.Name), f, false, true, v)
		default:
			w.topField(f, v)
		}
	}
	w.b = append(w.b, '}')
}

func (w *fieldsEncoder) metadata(f *schema.Field, t tree.Tree, s excludedFields) {
	w.part(f, func() {
		for _, f := range f.Message.Sorted() {
			if !s.excludesMetadata(f.Name) {
				w.topField(f, t[f.Name])
			}
		}
	})
}

// part writes the paths below a field, without the field's own path.
func (w *fieldsEncoder) part(f *schema.Field, below func()) {
	start := len(w.b)
	w.open(fieldElement(f.Name))
	empty := len(w.b)
	if below(); len(w.b) == empty {
		w.b = w.b[:start]
		return
	}
	w.b = append(w.b, '}')
}

// topField writes a field of the object or its metadata. With asEncoded, it omits values that the
// encoder writes even for an empty object.
func (w *fieldsEncoder) topField(f *schema.Field, v any) {
	if !w.asEncoded {
		w.field(f, v)
		return
	}
	was, is := encodedValue(f, nil), encodedValue(f, v)
	granularity, c := granularityOf(f, false), comparer{asEncoded: true}
	switch {
	case was == nil:
		w.field(f, v)
	case tree.SameRef(was, is):
	case granularity == atomic || c.isEmpty(f, granularity, was) && c.isEmpty(f, granularity, is) || isScalar(was) || isScalar(is):
		if !equalEncoded(f, false, was, is) {
			w.open(fieldElement(f.Name))
			w.b = append(w.b, '}')
		}
	case granularity == byField:
		object, _ := is.(tree.Tree)
		w.part(f, func() {
			for _, f := range f.Message.Sorted() {
				w.topField(f, object[f.Name])
			}
		})
	default:
		w.part(f, func() { w.below(f, false, is) })
	}
}

func (w *fieldsEncoder) field(f *schema.Field, v any) {
	if w.asEncoded {
		v = encodedValue(f, v)
	}
	if v != nil {
		w.node(fieldElement(f.Name), f, false, w.asEncoded, v)
	}
}

// node writes the paths at and below a path element, if any. member is true if the set contains the
// element's own path.
func (w *fieldsEncoder) node(at pathElement, f *schema.Field, element, member bool, v any) {
	start := len(w.b)
	w.open(at)
	bare := len(w.b)
	if member {
		w.b = append(w.b, `".":{}`...)
	}
	below := len(w.b)
	switch leaf := w.below(f, element, v); {
	case len(w.b) > below:
	case leaf || member:
		w.b = w.b[:bare]
	default:
		w.b = w.b[:start]
		return
	}
	w.b = append(w.b, '}')
}

func (w *fieldsEncoder) open(at pathElement) {
	if w.b[len(w.b)-1] != '{' {
		w.b = append(w.b, ',')
	}
	w.b = append(appendPathElement(w.b, at), '{')
}

// below writes the paths below a value. leaf is true if the set contains the value's own path.
func (w *fieldsEncoder) below(f *schema.Field, element bool, v any) (leaf bool) {
	granularity := granularityOf(f, element)
	object, isTree := v.(tree.Tree)
	switch {
	case v == null{}:
		return true
	case granularity == byItem:
		list, _ := v.([]any)
		w.items(f, list)
		return false
	case granularity == atomic || !isTree || len(object) == 0 && !w.asEncoded:
		return true
	case granularity == byField:
		for _, part := range fieldsOf(f.Message, object, nil) {
			if v := object[part.Name]; v != nil && !declares(f.Message, part) {
				w.node(fieldElement(part.Name), part, false, true, v)
			} else {
				w.field(part, v)
			}
		}
		return false
	}
	var space [16]string
	keys := space[:0]
	for key := range object {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		if v := object[key]; v != nil || !w.asEncoded {
			w.node(fieldElement(key), f, true, true, v)
		}
	}
	return false
}

// items writes list items sorted by path element. It writes no paths below duplicate items. All
// keys share one buffer to avoid allocations.
func (w *fieldsEncoder) items(f *schema.Field, list []any) {
	if len(list) == 0 {
		return
	}
	var space [8]keyedItem
	all := space[:0]
	base := len(w.keys)
	for _, item := range list {
		start := len(w.keys)
		w.keys = appendItemKey(w.keys, f, item)
		all = append(all, keyedItem{item: item, start: start - base, end: len(w.keys) - base})
	}
	text := string(w.keys[base:])
	w.keys = w.keys[:base]
	compare := func(a, b keyedItem) int { return strings.Compare(text[a.start:a.end], text[b.start:b.end]) }
	if !slices.IsSortedFunc(all, compare) {
		slices.SortStableFunc(all, compare)
	}
	for i := 0; i < len(all); {
		at, next := pathElement{itemKind(f), text[all[i].start:all[i].end]}, i+1
		for next < len(all) && compare(all[i], all[next]) == 0 {
			next++
		}
		switch {
		case next > i+1:
			w.open(at)
			w.b = append(w.b, '}')
		case all[i].item != nil || !w.asEncoded:
			w.node(at, f, true, true, all[i].item)
		}
		i = next
	}
}

type keyedItem struct {
	item       any
	start, end int
}
