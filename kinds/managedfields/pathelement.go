package managedfields

import (
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// String returns the path element in the form used in messages: .name, [name="c"], [="x"] or [0].
func (s pathElement) String() string {
	switch s.kind {
	case 'f':
		return "." + s.text
	case 'k':
		keys, _, err := codec.DecodeAny([]byte(s.text))
		object, ok := keys.(tree.Tree)
		if err != nil || !ok {
			return "[" + s.text + "]"
		}
		parts := make([]string, 0, len(object))
		for _, name := range object.SortedKeys() {
			parts = append(parts, name+"="+string(codec.AppendAny(nil, object[name])))
		}
		return "[" + strings.Join(parts, ",") + "]"
	case 'v':
		return "[=" + s.text + "]"
	}
	return "[" + s.text + "]"
}

func itemKind(f *schema.Field) byte {
	if f.ListType == schema.ListSet {
		return 'v'
	}
	return 'k'
}

// itemElement returns the path element of an item of a granular list. For example, the container
// {"name":"c","image":"i"} has k:{"name":"c"}, and "x" in a set has v:"x".
func itemElement(f *schema.Field, item any) pathElement {
	return pathElement{itemKind(f), string(appendItemKey(nil, f, item))}
}

func itemElements(f *schema.Field, list []any) []pathElement {
	var ends [16]int
	at, b := ends[:0], make([]byte, 0, 32*len(list))
	for _, item := range list {
		b = appendItemKey(b, f, item)
		at = append(at, len(b))
	}
	steps, text, start := make([]pathElement, len(list)), string(b), 0
	for i, end := range at {
		steps[i], start = pathElement{itemKind(f), text[start:end]}, end
	}
	return steps
}

// sameItem reports whether two items are known to have the same path element. It returns false for
// floats, which may differ but have the same text, and for keys that are not scalars.
func sameItem(f *schema.Field, a, b any) bool {
	if f.ListType == schema.ListSet {
		return exact(a) && tree.SameRef(a, b)
	}
	x, _ := a.(tree.Tree)
	y, _ := b.(tree.Tree)
	for _, name := range f.ListMapKeys {
		if v := keyOf(f, x, name); !exact(v) || !tree.SameRef(v, keyOf(f, y, name)) {
			return false
		}
	}
	return true
}

func isOther(f *schema.Field, item any, others []any) bool {
	return hasExactElement(f, item) && !slices.ContainsFunc(others, func(other any) bool { return sameItem(f, item, other) })
}

func hasExactElement(f *schema.Field, item any) bool {
	if f.ListType == schema.ListSet {
		return exact(item)
	}
	object, _ := item.(tree.Tree)
	return !slices.ContainsFunc(f.ListMapKeys, func(name string) bool { return !exact(keyOf(f, object, name)) })
}

// exact reports whether v is a scalar with a unique JSON encoding.
func exact(v any) bool {
	switch v.(type) {
	case string, bool, int64:
		return true
	}
	return false
}

// appendItemKey appends the keys of a list item as JSON. It omits absent keys, so items with and
// without a key differ.
func appendItemKey(b []byte, f *schema.Field, item any) []byte {
	if f.ListType == schema.ListSet {
		return codec.AppendAny(b, item)
	}
	object, _ := item.(tree.Tree)
	b = append(b, '{')
	first := true
	for _, name := range keysOf(f) {
		key := keyOf(f, object, name)
		if key == nil {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(b, '"')
		b = append(b, name...)
		b = append(b, '"', ':')
		b = codec.AppendAny(b, key)
	}
	return append(b, '}')
}

func keysOf(f *schema.Field) []string {
	if len(f.ListMapKeys) > 1 && !slices.IsSorted(f.ListMapKeys) {
		return slices.Sorted(slices.Values(f.ListMapKeys))
	}
	return f.ListMapKeys
}

// lacksKeys reports whether an item has none of its keys. Such an item has no path and no owner.
func lacksKeys(f *schema.Field, item any) bool {
	if f.ListType == schema.ListSet {
		return false
	}
	object, _ := item.(tree.Tree)
	return !slices.ContainsFunc(f.ListMapKeys, func(name string) bool { return keyOf(f, object, name) != nil })
}

// keyOf returns one key of an item, or nil. An absent key counts as its default, because defaults
// are applied only after the merge. Without a default, it counts as the zero value if the encoder
// always writes the key.
func keyOf(f *schema.Field, item tree.Tree, name string) any {
	if v := item[name]; v != nil || f.Message == nil {
		return v
	}
	switch key := f.Message.Field(name); {
	case key == nil:
		return nil
	case key.Default == nil && key.EmitEmpty && !key.Pointer:
		return codec.Zero(key)
	default:
		return key.Default
	}
}
