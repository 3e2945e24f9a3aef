package merge

import "github.com/troupe-api/troupe/kinds/tree"

// equal compares two values as JSON does: numbers by value, objects without order.
func equal(a, b any) bool {
	switch a := a.(type) {
	case tree.Tree:
		b, ok := b.(tree.Tree)
		if !ok || len(a) != len(b) {
			return false
		}
		for k, v := range a {
			w, ok := b[k]
			if !ok || !equal(v, w) {
				return false
			}
		}
		return true
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !equal(a[i], b[i]) {
				return false
			}
		}
		return true
	}
	return equalScalar(a, b)
}

func equalScalar(a, b any) bool {
	switch a := a.(type) {
	case int64:
		if f, ok := b.(float64); ok {
			return float64(a) == f
		}
	case float64:
		if i, ok := b.(int64); ok {
			return a == float64(i)
		}
	}
	switch b.(type) {
	case tree.Tree, []any:
		return false
	}
	return a == b
}
