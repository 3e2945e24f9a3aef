package merge

import (
	"github.com/troupe-api/troupe/kinds/tree"
)

// Merge applies an RFC 7386 merge patch. A patch that is no object replaces current; a null in an object
// removes the field. Neither argument is changed.
//
// As examples, the current value, the patch and the result:
//
//	{"a":1,"b":2}  {"b":null,"c":3}  {"a":1,"c":3}
//	{"a":[1,2]}    {"a":[3]}         {"a":[3]}      lists are replaced
//	{"a":"x"}      {"a":{"b":null}}  {"a":{}}       a null in a new object is no field
//
// Where the patch says what current has already, the result is current itself, by address.
func Merge(current, patch any) any {
	p, ok := patch.(tree.Tree)
	if !ok {
		return patch
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

// withoutNulls is an object of a patch that has nothing to be merged into: a null in it only says that the
// field is absent.
func withoutNulls(p tree.Tree) tree.Tree {
	out := make(tree.Tree, len(p))
	for name, v := range p {
		if v != nil {
			out[name] = Merge(nil, v)
		}
	}
	return out
}

// cloneOnce is own, or a copy of shared if own is nil: the copy is made on the first change.
func cloneOnce(own, shared tree.Tree) tree.Tree {
	if own != nil {
		return own
	}
	own = make(tree.Tree, len(shared)+1)
	for k, v := range shared {
		own[k] = v
	}
	return own
}
