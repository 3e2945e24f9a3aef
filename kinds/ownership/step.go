package ownership

import (
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// String is the step in a path for people: .name, [name="c"], [="x"] or [0].
func (s step) String() string {
	switch s.kind {
	case 'f':
		return "." + s.text
	case 'k':
		keys, _, err := codec.DecodeAny([]byte(s.text))
		tree, ok := keys.(schema.Tree)
		if err != nil || !ok {
			return "[" + s.text + "]"
		}
		parts := make([]string, 0, len(tree))
		for _, name := range rules.Keys(tree) {
			parts = append(parts, name+"="+string(codec.AppendAny(nil, tree[name])))
		}
		return "[" + strings.Join(parts, ",") + "]"
	case 'v':
		return "[=" + s.text + "]"
	}
	return "[" + s.text + "]"
}

// itemKind is the kind of the steps to the items of a list.
func itemKind(f *schema.Field) byte {
	if f.ListType == schema.ListSet {
		return 'v'
	}
	return 'k'
}

// itemStep is the step to an item of a list that is owned item by item: the value of a set, or
// the keys of an item. A key that is absent has its default; missing names the first one that
// has none either.
func itemStep(f *schema.Field, item any) (at step, missing string) {
	var space [64]byte
	key, missing := appendItemKey(space[:0], f, item)
	return step{itemKind(f), string(key)}, missing
}

// appendItemKey appends the text of an item's step.
func appendItemKey(b []byte, f *schema.Field, item any) (text []byte, missing string) {
	if f.ListType == schema.ListSet {
		return codec.AppendAny(b, item), ""
	}
	tree, _ := item.(schema.Tree)
	keys := f.ListMapKeys
	if len(keys) > 1 && !slices.IsSorted(keys) {
		keys = slices.Sorted(slices.Values(keys))
	}
	b = append(b, '{')
	for i, name := range keys {
		v := keyOf(f, tree, name)
		if v == nil && missing == "" {
			missing = name
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '"')
		b = append(b, name...)
		b = append(b, '"', ':')
		b = codec.AppendAny(b, v)
	}
	return append(b, '}'), missing
}

// keyOf is the value of one key of an item.
func keyOf(f *schema.Field, item schema.Tree, name string) any {
	if v := item[name]; v != nil || f.Message == nil {
		return v
	}
	if key := f.Message.Field(name); key != nil {
		return key.Default
	}
	return nil
}
