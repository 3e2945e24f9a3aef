package tree

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"strconv"
)

// A Tree is a decoded JSON object.
type Tree map[string]any

// UnmarshalJSON decodes all numbers as float64. It is only for internal documents. Package codec
// decodes API objects.
func (t *Tree) UnmarshalJSON(data []byte) error {
	var m map[string]any
	if err := json.Unmarshal(data, &m); err != nil {
		return err
	}
	*t, _ = Of(m).(Tree)
	return nil
}

// Object returns the nested object at a path of field names, or nil, which reads as empty.
func (t Tree) Object(path ...string) Tree {
	for _, name := range path {
		t, _ = t[name].(Tree)
	}
	return t
}

// EnsureObject is like Object but creates missing objects.
func (t Tree) EnsureObject(path ...string) Tree {
	for _, name := range path {
		next, ok := t[name].(Tree)
		if !ok {
			next = Tree{}
			t[name] = next
		}
		t = next
	}
	return t
}

// String returns the string in a field, or "".
func (t Tree) String(name string) string {
	s, _ := t[name].(string)
	return s
}

// Int returns the integer in a field and reports whether there is one.
func (t Tree) Int(name string) (int64, bool) {
	n, ok := t[name].(int64)
	return n, ok
}

// Bool returns the boolean in a field, or false.
func (t Tree) Bool(name string) bool {
	b, _ := t[name].(bool)
	return b
}

// Has reports whether a field is present and not null.
func (t Tree) Has(name string) bool { return t[name] != nil }

// List returns the list in a field, or nil.
func (t Tree) List(name string) []any {
	l, _ := t[name].([]any)
	return l
}

// Objects returns the list of objects in a field. Items of other types become nil, so that indexes
// match.
func (t Tree) Objects(name string) []Tree {
	items := t.List(name)
	objects := make([]Tree, len(items))
	for i, v := range items {
		objects[i], _ = v.(Tree)
	}
	return objects
}

// Strings returns the list of strings in a field. Items of other types become "", so that indexes
// match.
func (t Tree) Strings(name string) []string {
	items := t.List(name)
	texts := make([]string, len(items))
	for i, v := range items {
		texts[i], _ = v.(string)
	}
	return texts
}

// SortedKeys returns the sorted field names.
func (t Tree) SortedKeys() []string {
	if len(t) == 0 {
		return nil
	}
	keys := slices.AppendSeq(make([]string, 0, len(t)), maps.Keys(t))
	slices.Sort(keys)
	return keys
}

// Shares reports whether t and old share the value of a field in memory, so that the field has not
// changed.
func (t Tree) Shares(old Tree, name string) bool {
	v := t[name]
	return v != nil && old != nil && SameRef(v, old[name])
}

// CopyField copies a field from another tree, sharing its value, or removes it if from lacks it.
func (t Tree) CopyField(from Tree, name string) {
	if v, ok := from[name]; ok {
		t[name] = v
	} else {
		delete(t, name)
	}
}

// Copy returns a deep copy of t. The copy of nil is an empty Tree.
func (t Tree) Copy() Tree {
	if t == nil {
		return Tree{}
	}
	return Clone(t).(Tree)
}

// Clone returns a deep copy of a value.
func Clone(v any) any {
	switch v := v.(type) {
	case Tree:
		if v == nil {
			return v
		}
		c := maps.Clone(v)
		for k, e := range v {
			switch e.(type) {
			case Tree, []any:
				c[k] = Clone(e)
			}
		}
		return c
	case []any:
		if v == nil {
			return v
		}
		c := make([]any, len(v))
		for i, e := range v {
			c[i] = Clone(e)
		}
		return c
	}
	return v
}

// ListOf converts a slice to the value of a list field.
func ListOf[T any](all []T) []any {
	items := make([]any, len(all))
	for i, item := range all {
		items[i] = item
	}
	return items
}

// Of converts each map[string]any in v to a Tree, in place where possible. It takes ownership of v.
func Of(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			v[k] = Of(e)
		}
		return Tree(v)
	case []any:
		for i, e := range v {
			v[i] = Of(e)
		}
	}
	return v
}

// Decode decodes one JSON value. 64-bit integers are exact.
func Decode(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("unexpected data after the value")
	}
	return convertNumbers(v)
}

func convertNumbers(v any) (any, error) {
	var err error
	switch v := v.(type) {
	case json.Number:
		if i, err := strconv.ParseInt(string(v), 10, 64); err == nil {
			return i, nil
		}
		return v.Float64()
	case map[string]any:
		for k, w := range v {
			if v[k], err = convertNumbers(w); err != nil {
				return nil, err
			}
		}
		return Tree(v), nil
	case []any:
		for i, w := range v {
			if v[i], err = convertNumbers(w); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}
