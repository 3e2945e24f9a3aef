package tree

import (
	"encoding/json"
	"maps"
	"slices"
)

// A Tree is a decoded JSON object.
type Tree map[string]any

// UnmarshalJSON reads small documents of our own; numbers become float64. Objects of clients are read by
// package codec.
func (t *Tree) UnmarshalJSON(data []byte) error {
	var m map[string]any
	if err := json.Unmarshal(data, &m); err != nil {
		return err
	}
	*t, _ = Of(m).(Tree)
	return nil
}

// Object is the object at a path of names inside t; nil, which reads as empty, if there is none.
func (t Tree) Object(path ...string) Tree {
	for _, name := range path {
		t, _ = t[name].(Tree)
	}
	return t
}

// EnsureObject is like Object, but makes the objects that are missing.
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

// String is the string called name; "" if there is none.
func (t Tree) String(name string) string {
	s, _ := t[name].(string)
	return s
}

// Int is the whole number called name, and whether there is one.
func (t Tree) Int(name string) (int64, bool) {
	n, ok := t[name].(int64)
	return n, ok
}

// Bool is the boolean called name; false if there is none.
func (t Tree) Bool(name string) bool {
	b, _ := t[name].(bool)
	return b
}

// Has tells whether t holds a value called name.
func (t Tree) Has(name string) bool { return t[name] != nil }

// List is the list called name.
func (t Tree) List(name string) []any {
	l, _ := t[name].([]any)
	return l
}

// Objects is the list of objects called name, index for index; what is no object reads as empty.
func (t Tree) Objects(name string) []Tree {
	items := t.List(name)
	objects := make([]Tree, len(items))
	for i, v := range items {
		objects[i], _ = v.(Tree)
	}
	return objects
}

// Strings is the list of strings called name, index for index.
func (t Tree) Strings(name string) []string {
	items := t.List(name)
	texts := make([]string, len(items))
	for i, v := range items {
		texts[i], _ = v.(string)
	}
	return texts
}

// SortedKeys are the sorted names of the fields.
func (t Tree) SortedKeys() []string {
	if len(t) == 0 {
		return nil
	}
	keys := slices.AppendSeq(make([]string, 0, len(t)), maps.Keys(t))
	slices.Sort(keys)
	return keys
}

// Shares reports whether t has a field whose value it shares in memory with old.
func (t Tree) Shares(old Tree, name string) bool {
	v := t[name]
	return v != nil && old != nil && SameRef(v, old[name])
}

// CopyField gives t what from holds under name, or removes it if that holds nothing. The value is shared.
func (t Tree) CopyField(from Tree, name string) {
	if v, ok := from[name]; ok {
		t[name] = v
	} else {
		delete(t, name)
	}
}

// Clone copies a value with everything in it.
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

// ListOf are texts as the value of a list field; Strings reads them back.
func ListOf(texts []string) []any {
	items := make([]any, len(texts))
	for i, s := range texts {
		items[i] = s
	}
	return items
}

// Of makes a value that a library has decoded, out of maps of any, one of trees. It takes the value over.
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
