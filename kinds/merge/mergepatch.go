package merge

import (
	"maps"
	"slices"

	"github.com/troupe-api/troupe/kinds/tree"
)

// Merge applies an RFC 7386 merge patch without changing its arguments. A patch that is not an
// object replaces current, and a null removes a field. If nothing changes, the result is current
// itself.
//
// Examples of the current value, the patch and the result:
//
//	{"a":1,"b":2}  {"b":null,"c":3}   {"a":1,"c":3}
//	{"a":[1,2]}    {"a":[3]}          {"a":[3]}      lists are replaced
//	{"a":[1,2]}    {"a":[{"b":null}]} {"a":[{}]}     list items lose their null fields
//	{"a":"x"}      {"a":{"b":null}}   {"a":{}}       new objects lose their null fields
func Merge(current, patch any) any {
	p, ok := patch.(tree.Tree)
	if !ok {
		return withoutNulls(patch)
	}
	c, ok := current.(tree.Tree)
	if !ok {
		return withoutNulls(p)
	}
	var out tree.Tree // nil until the first change
	for name, v := range p {
		old, had := c[name]
		if v == nil {
			if !had {
				continue
			}
			out = cloneOnce(out, c)
			delete(out, name)
			continue
		}
		next := Merge(old, v)
		if had && tree.SameRef(old, next) {
			continue
		}
		out = cloneOnce(out, c)
		out[name] = next
	}
	if out == nil {
		return c
	}
	return out
}

// withoutNulls returns a copy without the null fields of objects. Null list items are kept.
func withoutNulls(patch any) any {
	switch p := patch.(type) {
	case tree.Tree:
		out := make(tree.Tree, len(p))
		for name, v := range p {
			if v != nil {
				out[name] = withoutNulls(v)
			}
		}
		return out
	case []any:
		if !slices.ContainsFunc(p, isComposite) {
			return p
		}
		out := make([]any, len(p))
		for i, v := range p {
			out[i] = withoutNulls(v)
		}
		return out
	}
	return patch
}

func isComposite(v any) bool {
	switch v.(type) {
	case tree.Tree, []any:
		return true
	}
	return false
}

func cloneOnce(own, shared tree.Tree) tree.Tree {
	if own != nil {
		return own
	}
	own = make(tree.Tree, len(shared)+1)
	maps.Copy(own, shared)
	return own
}
