package tree

import (
	"reflect"
	"slices"
)

// SameRef reports whether two values are equal scalars, or the same object or list in memory. Two
// empty lists are the same if both or neither are nil.
func SameRef(a, b any) bool {
	switch x := a.(type) {
	case Tree:
		y, ok := b.(Tree)
		return ok && reflect.ValueOf(x).UnsafePointer() == reflect.ValueOf(y).UnsafePointer()
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return false
		}
		if len(x) == 0 {
			return (x == nil) == (y == nil)
		}
		return &x[0] == &y[0]
	}
	switch b.(type) {
	case Tree, []any:
		return false
	}
	return a == b
}

// StrictEqual reports whether two values are exactly equal. An absent object differs from an empty
// one.
func StrictEqual(a, b any) bool {
	if SameRef(a, b) {
		return true
	}
	switch x := a.(type) {
	case Tree:
		y, ok := b.(Tree)
		if !ok || len(x) != len(y) || (x == nil) != (y == nil) {
			return false
		}
		for name, v := range x {
			if w, there := y[name]; !there || !StrictEqual(v, w) {
				return false
			}
		}
		return true
	case []any:
		y, ok := b.([]any)
		return ok && (x == nil) == (y == nil) && slices.EqualFunc(x, y, StrictEqual)
	}
	return false
}

// StoredEqual reports whether two values are equal once stored. A null field equals an absent one,
// but everything else must be exactly equal.
func StoredEqual(a, b any) bool {
	if SameRef(a, b) {
		return true
	}
	switch x := a.(type) {
	case Tree:
		y, ok := b.(Tree)
		if !ok {
			return false
		}
		for name, v := range x {
			if !StoredEqual(v, y[name]) {
				return false
			}
		}
		for name, w := range y {
			if _, compared := x[name]; !compared && w != nil {
				return false
			}
		}
		return true
	case []any:
		y, ok := b.([]any)
		return ok && slices.EqualFunc(x, y, StoredEqual)
	}
	return false
}

// JSONEqual reports whether two values are equal for the JSON Patch operation "test" (RFC 6902,
// 4.6). 1 equals 1.0, and nil objects and lists equal empty ones.
func JSONEqual(a, b any) bool {
	switch x := a.(type) {
	case Tree:
		y, ok := b.(Tree)
		if !ok || len(x) != len(y) {
			return false
		}
		for name, v := range x {
			if w, there := y[name]; !there || !JSONEqual(v, w) {
				return false
			}
		}
		return true
	case []any:
		y, ok := b.([]any)
		return ok && slices.EqualFunc(x, y, JSONEqual)
	case int64:
		if f, ok := b.(float64); ok {
			return float64(x) == f
		}
	case float64:
		if i, ok := b.(int64); ok {
			return x == float64(i)
		}
	}
	switch b.(type) {
	case Tree, []any:
		return false
	}
	return a == b
}

// SemanticEqual reports whether two values are equal when absent fields count as empty at any
// depth.
func SemanticEqual(a, b any) bool {
	if SameRef(a, b) || IsEmpty(a) && IsEmpty(b) {
		return true
	}
	switch x := a.(type) {
	case Tree:
		y, ok := b.(Tree)
		return (ok || b == nil) && semanticEqual(x, y)
	case []any:
		y, ok := b.([]any)
		return ok && slices.EqualFunc(x, y, SemanticEqual)
	case nil:
		y, ok := b.(Tree)
		return ok && semanticEqual(nil, y)
	}
	switch b.(type) {
	case Tree, []any:
		return false
	}
	return a == b
}

func semanticEqual(a, b Tree) bool {
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

// IsEmpty reports whether v is equivalent to an absent field: nil, "", 0, false, or an empty list
// or object.
func IsEmpty(v any) bool {
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
	case Tree:
		return len(v) == 0
	}
	return false
}
