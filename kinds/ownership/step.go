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

// valueStep is the step to a value of a set.
func valueStep(v any) step { return step{'v', string(codec.AppendAny(nil, v))} }

// keyStep is the step to an item of the list f by its keys. A key that is absent has its
// default; missing names the first one that has none either.
func keyStep(f *schema.Field, item any) (at step, missing string) {
	tree, _ := item.(schema.Tree)
	keys := f.ListMapKeys
	if len(keys) > 1 && !slices.IsSorted(keys) {
		keys = slices.Sorted(slices.Values(keys))
	}
	b := make([]byte, 0, 48)
	b = append(b, '{')
	for i, name := range keys {
		v := tree[name]
		if v == nil && f.Message != nil {
			if key := f.Message.Field(name); key != nil {
				v = key.Default
			}
		}
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
	return step{'k', string(append(b, '}'))}, missing
}

// itemStep is the step to an item of a list that is owned item by item.
func itemStep(f *schema.Field, item any) (at step, missing string) {
	if f.ListType == schema.ListSet {
		return valueStep(item), ""
	}
	return keyStep(f, item)
}
