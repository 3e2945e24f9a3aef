package rules

import (
	"maps"
	"slices"
	"strconv"

	"github.com/troupe-api/troupe/kinds/schema"
)

// Nested is the object at a path of names inside t; nil, which reads as empty, if there is none.
func Nested(t schema.Tree, path ...string) schema.Tree {
	for _, name := range path {
		t, _ = t[name].(schema.Tree)
	}
	return t
}

// EnsureNested is like Sub, but makes the objects that are missing.
func EnsureNested(t schema.Tree, path ...string) schema.Tree {
	for _, name := range path {
		next, ok := t[name].(schema.Tree)
		if !ok {
			next = schema.Tree{}
			t[name] = next
		}
		t = next
	}
	return t
}

// String is the string called name in t; "" if there is none.
func String(t schema.Tree, name string) string {
	s, _ := t[name].(string)
	return s
}

// Int is the whole number called name in t, and whether there is one.
func Int(t schema.Tree, name string) (int64, bool) {
	n, ok := t[name].(int64)
	return n, ok
}

// Bool is the boolean called name in t; false if there is none.
func Bool(t schema.Tree, name string) bool {
	b, _ := t[name].(bool)
	return b
}

// Has tells whether t holds a value called name.
func Has(t schema.Tree, name string) bool { return t[name] != nil }

// Items is the list called name in t.
func Items(t schema.Tree, name string) []any {
	l, _ := t[name].([]any)
	return l
}

// Trees is the list of objects called name in t, index for index; what is no object reads as empty.
func Trees(t schema.Tree, name string) []schema.Tree {
	items := Items(t, name)
	trees := make([]schema.Tree, len(items))
	for i, v := range items {
		trees[i], _ = v.(schema.Tree)
	}
	return trees
}

// Strings is the list of strings called name in t, index for index.
func Strings(t schema.Tree, name string) []string {
	items := Items(t, name)
	texts := make([]string, len(items))
	for i, v := range items {
		texts[i], _ = v.(string)
	}
	return texts
}

// Keys are the sorted keys of t.
func Keys(t schema.Tree) []string {
	if len(t) == 0 {
		return nil
	}
	keys := slices.AppendSeq(make([]string, 0, len(t)), maps.Keys(t))
	slices.Sort(keys)
	return keys
}

// IndexPath is the path of an element of a list.
func IndexPath(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

// KeyPath is the path of an entry of a map.
func KeyPath(path, key string) string { return path + "[" + key + "]" }

// FieldPath is the path of a field below path, which may be "".
func FieldPath(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// CopyField gives to what from holds under name, or nothing if that holds nothing. The value
// is shared.
func CopyField(to, from schema.Tree, name string) {
	if v, ok := from[name]; ok {
		to[name] = v
	} else {
		delete(to, name)
	}
}

// Clone copies a value of a tree with everything in it.
func Clone(v any) any {
	switch v := v.(type) {
	case schema.Tree:
		if v == nil {
			return v
		}
		c := maps.Clone(v)
		for k, e := range v {
			switch e.(type) {
			case schema.Tree, []any:
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

// Empty tells whether v says no more than an absent field: nothing, "", 0, false, or
// a list or object without content.
func Empty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case bool:
		return !v
	case int64:
		return v == 0
	case float64:
		return v == 0
	case []any:
		return len(v) == 0
	case schema.Tree:
		return len(v) == 0
	}
	return false
}

// SemanticEqual compares two values of trees; an absent field equals an empty one, whatever its depth.
func SemanticEqual(a, b any) bool {
	if schema.SameRef(a, b) || Empty(a) && Empty(b) {
		return true
	}
	switch x := a.(type) {
	case schema.Tree:
		y, ok := b.(schema.Tree)
		return (ok || b == nil) && equalTrees(x, y)
	case []any:
		y, ok := b.([]any)
		return ok && slices.EqualFunc(x, y, SemanticEqual)
	case nil:
		y, ok := b.(schema.Tree)
		return ok && equalTrees(nil, y)
	}
	switch b.(type) {
	case schema.Tree, []any:
		return false
	}
	return a == b
}

func equalTrees(a, b schema.Tree) bool {
	for k, v := range a {
		if !SemanticEqual(v, b[k]) {
			return false
		}
	}
	for k, v := range b {
		if _, ok := a[k]; !ok && !SemanticEqual(nil, v) {
			return false
		}
	}
	return true
}
