package codec

import (
	"github.com/troupe-api/troupe/kinds/jsontext"
	"github.com/troupe-api/troupe/kinds/tree"
)

// any reads one value that has no plan.
//
// Raw fields, objects of custom kinds and patches are read like this. The result has the types of package
// tree: a string, a bool, an int64 for a whole number that fits and a float64 for any other, a tree.Tree,
// an []any, or nil for null.
//
// Unlike in objects with a plan, null stays in objects: in a merge patch it means that a field is to be
// removed.
func (d *decoder) any() (any, error) {
	switch c := d.Peek(); {
	case c == '"':
		s, err := d.ReadString()
		if err != nil {
			return nil, err
		}
		return s, nil
	case c == '{':
		return d.anyObject()
	case c == '[':
		return d.anyList()
	case c == 't':
		return true, d.Literal("true")
	case c == 'f':
		return false, d.Literal("false")
	case c == 'n':
		return nil, d.Literal("null")
	case c == '-' || jsontext.IsDigit(c):
		literal, err := d.ReadNumber()
		if err != nil {
			return nil, err
		}
		return d.anyNumber(literal), nil
	}
	return nil, d.Unexpected("looking for beginning of value")
}

// anyObject reads an object without a plan. Keys are kept as they come, duplicates are reported.
//
// A key is new if storing it makes the map larger, which costs less than looking it up first.
func (d *decoder) anyObject() (any, error) {
	if err := d.Open(); err != nil {
		return nil, err
	}
	object := make(tree.Tree)
	for first := true; ; first = false {
		key, more, err := d.Key(first)
		if err != nil {
			return nil, err
		}
		if !more {
			return object, nil
		}
		d.pushKey(key)
		v, err := d.any()
		d.pop()
		if err != nil {
			return nil, err
		}
		before := len(object)
		object[key] = v
		if len(object) == before {
			d.duplicate(key)
		}
	}
}

// anyList reads a list without a plan. Nulls in it stay.
//
// How long a list is shows only at its end. So the items of all lists that are being read are kept in one
// slice, the innermost list last, and popItems makes the list when its length is known.
func (d *decoder) anyList() (any, error) {
	if err := d.Open(); err != nil {
		return nil, err
	}
	base := len(d.items)
	for first := true; ; first = false {
		more, err := d.Element(first)
		if err != nil {
			return nil, err
		}
		if !more {
			return d.popItems(base), nil
		}
		d.pushIndex(len(d.items) - base)
		v, err := d.any()
		d.pop()
		if err != nil {
			return nil, err
		}
		d.items = append(d.items, v)
	}
}
