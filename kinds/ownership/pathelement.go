package ownership

import (
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// String is the path element as messages show it: .name, [name="c"], [="x"] or [0].
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

// itemKind is the kind of the path elements of the items of a list.
func itemKind(f *schema.Field) byte {
	if f.ListType == schema.ListSet {
		return 'v'
	}
	return 'k'
}

// itemElement is the path element of an item of a list that is owned item by item: the value of a set, or
// the keys of an item.
//
// For the container {"name":"c","image":"i"} it is k:{"name":"c"}; in a set of strings, "x" is v:"x".
func itemElement(f *schema.Field, item any) pathElement {
	return pathElement{itemKind(f), string(appendItemKey(nil, f, item))}
}

// itemElements are the path elements of all items of a list. Their texts share one string: a list of many
// items would otherwise cost an allocation for each.
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

// sameItem tells whether two items have the same path element, without making it. It answers no where that
// cannot be seen from the values alone: for fractions, of which different ones may be written alike, and
// for keys that are no scalars.
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

// isOther tells whether an item certainly has the path element of none of the others.
func isOther(f *schema.Field, item any, others []any) bool {
	return hasExactElement(f, item) && !slices.ContainsFunc(others, func(other any) bool { return sameItem(f, item, other) })
}

// hasExactElement tells whether what the path element of an item is made of is exact.
func hasExactElement(f *schema.Field, item any) bool {
	if f.ListType == schema.ListSet {
		return exact(item)
	}
	object, _ := item.(tree.Tree)
	return !slices.ContainsFunc(f.ListMapKeys, func(name string) bool { return !exact(keyOf(f, object, name)) })
}

// exact tells whether v is a scalar whose text no other value has.
func exact(v any) bool {
	switch v.(type) {
	case string, bool, int64:
		return true
	}
	return false
}

// appendItemKey appends the text of an item's path element. A key without a value is left out: an item that has it is another one.
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

// keysOf are the keys of a list's items, sorted.
func keysOf(f *schema.Field) []string {
	if len(f.ListMapKeys) > 1 && !slices.IsSorted(f.ListMapKeys) {
		return slices.Sorted(slices.Values(f.ListMapKeys))
	}
	return f.ListMapKeys
}

// lacksKeys tells whether an item has a value for none of its keys.
//
// Such an item has no path, so nothing in it could be owned.
func lacksKeys(f *schema.Field, item any) bool {
	if f.ListType == schema.ListSet {
		return false
	}
	object, _ := item.(tree.Tree)
	return !slices.ContainsFunc(f.ListMapKeys, func(name string) bool { return keyOf(f, object, name) != nil })
}

// keyOf is the value of one key of an item. An absent key has its default, because defaults are filled in
// only after the merge, or the zero value that is written anyway; nil if there is neither.
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
