package ownership

import (
	"maps"
	"slices"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A configuration may say of a field that it is null, which its tree has as nil. Such a field is its
// applier's as any other that it names. What is owned as a whole loses its value by it; what is owned
// in parts keeps them.

// withNulls is a configuration that has null for nil, which elsewhere is a field that is not there;
// the configuration itself if there is none. What nobody owns is not there.
func withNulls(m *schema.Message, config tree.Tree) tree.Tree {
	out := replacer{nil, func(*schema.Field, bool) any { return null{} }}.message(m, config)
	if metadata, ok := out["metadata"].(tree.Tree); ok && !tree.SameRef(out, config) {
		metadata = maps.Clone(metadata)
		maps.DeleteFunc(metadata, func(name string, v any) bool { return unownedMetadata[name] && v == null{} })
		out["metadata"] = metadata
	}
	return out
}

// resolveNulls is an object of message m as it is kept: where a null is in a map, or is a field that is
// always written, there is the zero value, and nothing anywhere else.
func resolveNulls(m *schema.Message, t tree.Tree) tree.Tree {
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

// A turning puts something else in the place of one value: what is to be there, nil for nothing, in
// a field or an element of one. What has no such value stays the same.
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

// value is a value of f with others in it, or another.
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

// element is value for an element of a list or map of f, or for its only value.
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

// replace is out, a copy of t or t itself, with a value made of the one that was there.
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
