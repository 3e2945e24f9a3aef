package ownership

import (
	"maps"
	"slices"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A configuration may say of a field that it is null, which its tree has as nil. The applier owns
// such a field like any other that it names. What is owned as a whole loses its value by it; what is
// owned in parts keeps them.

// withNulls is a configuration with null{} for nil, because elsewhere in this package nil is a field that
// is absent; the configuration itself if it has none. Fields without owner are left out.
//
// As an example, {"spec":{"replicas":null}} gives the writer the path spec.replicas. If nobody sets a value
// the field gets its default.
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

// resolveNulls is an object of message m as it is stored: a null in a map, or of a field that is always
// written, becomes the zero value, any other null is absent. In an object of a custom kind it stays: whether null is a
// value there is up to the schema, when the object is defaulted.
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

// A replacer replaces one value by another everywhere in a tree: to says by what in a field, or in an
// element of it; nil removes it. What does not hold the value stays the same in memory.
type replacer struct {
	from any
	to   func(f *schema.Field, element bool) any
}

// message replaces in a message.
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

// value is a value of f with replacements in it, or its replacement.
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

// replace is out, which is t itself or a copy of it, with made instead of was.
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

// replaceEverywhere is a value with one null in it replaced by another, whatever the plan says of it: null is a value in
// objects of custom kinds, which schemas may allow anywhere. What does not hold it stays the same in memory.
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
