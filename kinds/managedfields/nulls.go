package managedfields

import (
	"maps"
	"slices"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A configuration may set fields to null, represented by nil. The applier owns these fields like
// any other. A null removes an atomic value, but a granular value keeps its fields and items.

// withNulls replaces nil in a configuration with null{}, because nil means absent elsewhere in this
// package, and removes unowned fields. Without nulls, it returns config itself. For example, with
// {"spec":{"replicas":null}} the writer owns spec.replicas.
func withNulls(m *schema.Message, config tree.Tree) tree.Tree {
	var out tree.Tree
	if m.Custom != nil {
		out = replaceEverywhere(config, nil, null{}).(tree.Tree)
	} else {
		out = replacer{nil, func(*schema.Field, bool) any { return null{} }}.message(m, config)
	}
	if metadata, ok := out["metadata"].(tree.Tree); ok && !tree.SameRef(out, config) {
		metadata = maps.Clone(metadata)
		maps.DeleteFunc(metadata, func(name string, v any) bool { return unownedMetadata[name] && v == null{} })
		out["metadata"] = metadata
	}
	return out
}

// resolveNulls replaces nulls in maps and EmitEmpty fields with the zero value, and removes others.
// t is an object of message m. Custom kinds keep nulls until schema defaulting handles them.
func resolveNulls(m *schema.Message, t tree.Tree) tree.Tree {
	if m.Custom != nil {
		return t
	}
	return replacer{null{}, func(f *schema.Field, element bool) any {
		if element {
			return codec.Zero(f)
		}
		if v := encodedValue(f, nil); v != (null{}) {
			return v
		}
		return nil
	}}.message(m, t)
}

// A replacer replaces one value throughout a tree. to returns the replacement for a field or
// element, or nil to remove it. Unchanged subtrees are shared.
type replacer struct {
	from any
	to   func(f *schema.Field, element bool) any
}

func (r replacer) message(m *schema.Message, t tree.Tree) tree.Tree {
	out := t
	for name, v := range t {
		f := m.Field(name)
		if f == nil {
			continue
		}
		if out = r.replace(t, out, name, v, r.value(f, v)); out[name] == nil {
			delete(out, name)
		}
	}
	return out
}

func (r replacer) value(f *schema.Field, v any) any {
	switch v := v.(type) {
	case tree.Tree:
		if f.Shape == schema.Single {
			break
		}
		out := v
		for key, e := range v {
			out = r.replace(v, out, key, e, r.element(f, e, true))
		}
		return out
	case []any:
		if f.Shape == schema.Single {
			break
		}
		out := v
		for i, e := range v {
			if made := r.element(f, e, true); !tree.SameRef(made, e) {
				if tree.SameRef(out, v) {
					out = slices.Clone(v)
				}
				out[i] = made
			}
		}
		return out
	}
	return r.element(f, v, false)
}

func (r replacer) element(f *schema.Field, v any, element bool) any {
	object, isTree := v.(tree.Tree)
	switch {
	case v == r.from:
		return r.to(f, element)
	case isTree && f.Type == schema.TypeMessage:
		return r.message(f.Message, object)
	}
	return v
}

func (r replacer) replace(t, out tree.Tree, name string, was, made any) tree.Tree {
	if tree.SameRef(was, made) {
		return out
	}
	if tree.SameRef(out, t) {
		out = maps.Clone(t)
	}
	out[name] = made
	return out
}

// replaceEverywhere replaces a value (from) at any depth, regardless of the plan, because schemas
// of custom kinds may allow nulls anywhere. It shares unchanged subtrees.
func replaceEverywhere(v, from, to any) any {
	switch v := v.(type) {
	case tree.Tree:
		out := v
		for name, e := range v {
			made := replaceEverywhere(e, from, to)
			if tree.SameRef(e, made) {
				continue
			}
			if tree.SameRef(out, v) {
				out = maps.Clone(v)
			}
			out[name] = made
		}
		return out
	case []any:
		out := v
		for i, e := range v {
			made := replaceEverywhere(e, from, to)
			if tree.SameRef(e, made) {
				continue
			}
			if tree.SameRef(out, v) {
				out = slices.Clone(v)
			}
			out[i] = made
		}
		return out
	}
	if v == from {
		return to
	}
	return v
}
