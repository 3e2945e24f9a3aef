package schema

import (
	"reflect"
	"slices"
)

// A Tree is a decoded object: JSON values as Go values. An object is a
// map[string]any, a list []any; scalars are string, bool, int64, float64 and nil
// (only inside Raw fields). Bytes stay base64 text, times RFC 3339 text, quantities
// canonical text; an IntOrString is an int64 or a string.
type Tree = map[string]any

// SameRef tells whether two values of trees are one: the same scalar, or one object or list in
// memory. Two lists without items are one if both are there, or neither.
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

// StrictEqual compares two values of trees to the letter: nothing and an empty object differ.
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
