package codec

import (
	"github.com/troupe-api/troupe/kinds/jsontext"
	"github.com/troupe-api/troupe/kinds/tree"
)

// any decodes one value with unknown fields, such as a raw field or a patch. It keeps nulls, which
// remove fields in a merge patch.
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

// anyObject decodes an object. A key is a duplicate if the map does not grow, which is cheaper to
// check than a lookup.
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

// anyList decodes a list and keeps nulls. It collects the items in d.items, a stack shared by all
// nested lists, and allocates the list once its length is known.
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
