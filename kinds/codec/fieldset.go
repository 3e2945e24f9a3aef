package codec

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/jsontext"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// compactFieldSet is the text of a set of fields (FieldsV1) as trees hold it, for one JSON value that
// nests so many levels deep: an object as an encoder writes it, so that it can be put into the JSON of its
// object as it is. Sets stay text in trees: most writes never look into them.
//
// For instance {"f:data": {"f:a": {}}} becomes {"f:data":{"f:a":{}}}. depth makes its own nesting count
// with that of the object around it. The order of keys and the meaning of the text are the matter of
// package ownership.
func compactFieldSet(text string, depth int) (string, error) {
	if isPlainFieldSet(text) {
		return text, nil
	}
	v, _, err := decodeAny(text, depth)
	if err != nil {
		return "", err
	}
	object, ok := v.(tree.Tree)
	if !ok {
		return "", typeError("json: cannot unmarshal " + valueType(v) + " into Go value of type v1.FieldsV1")
	}
	return string(AppendAny(nil, object)), nil
}

// isPlainFieldSet recognizes the usual form of a set that is well-formed JSON: nothing but nested objects,
// without blanks, whose keys are ASCII and escape at most quotes and backslashes.
//
// It tells so from the characters alone, and does not check that brackets match: the callers do, before or
// after. Nearly all sets come back from clients as this server has written them, and need no decoding.
func isPlainFieldSet(text string) bool {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{', '}', ':', ',':
		case '"':
			if i = plainKeyEnd(text, i+1); i < 0 {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// plainKeyEnd is the offset of the quote that ends the key from i on; negative if the key is not plain.
func plainKeyEnd(text string, i int) int {
	for {
		i = jsontext.SafeEnd(text, i)
		switch {
		case i >= len(text):
			return -1
		case text[i] == '"':
			return i
		case text[i] == '\\' && i+1 < len(text) && (text[i+1] == '"' || text[i+1] == '\\'):
			i += 2
		default:
			return -1
		}
	}
}

// fieldSet reads a set of fields as the text that it is.
//
// The scanner goes over it like over any value, so it is well formed and within the depth. A null is no
// set.
func (d *decoder) fieldSet(f *schema.Field) (any, error) {
	c, start := d.Peek(), d.Pos
	if err := d.Skip(); err != nil {
		return nil, err
	}
	switch c {
	case '{':
		text, err := compactFieldSet(d.Text[start:d.Pos], d.Depth)
		if err != nil {
			d.malformed(err.Error())
		}
		return text, nil
	case 'n':
		return nil, nil
	}
	d.mismatch(typeOfByte(c), elementType(f))
	return nil, nil
}

// equalsBase tells whether base has a set of fields to the letter. Such a one is not checked again, and
// may nest deeper than what comes in.
func (c *conformer) equalsBase(text string) bool {
	metadata, _ := c.base["metadata"].(tree.Tree)
	managers, _ := metadata["managedFields"].([]any)
	return slices.ContainsFunc(managers, func(entry any) bool {
		manager, _ := entry.(tree.Tree)
		return manager["fieldsV1"] == text
	})
}

// fieldSet takes a set of fields as the object that a patch holds, or as the string that it is in the tree
// of the patched object. A patch that sends a string cannot be told from that; it is taken as the object
// that the string says.
func (c *conformer) fieldSet(f *schema.Field, v any) any {
	switch v := v.(type) {
	case string:
		if !c.encodedFieldSets {
			break
		}
		if c.equalsBase(v) {
			return v
		}
		text, err := compactFieldSet(v, c.depth)
		if s := (jsontext.Scanner{Text: text, Depth: c.depth}); err == nil && (s.Peek() != '{' || s.Skip() != nil || s.End() != nil) {
			err = typeError("json: cannot unmarshal string into Go value of type v1.FieldsV1")
		}
		if err == nil && text != v {
			return text
		}
		if err == nil {
			return v
		}
		c.malformed(err.Error())
		return nil
	case tree.Tree:
		if c.raw(v) != nil {
			return string(AppendAny(nil, v))
		}
		return nil
	}
	c.mismatchOf(v, elementType(f))
	return nil
}
