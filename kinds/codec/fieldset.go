package codec

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/jsontext"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// compactFieldSet returns a field set (FieldsV1) as compact JSON, such as {"f:data":{"f:a":{}}}.
// Trees contain field sets as strings, because most writes do not read them. depth is the nesting
// depth in the object.
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

// isPlainFieldSet reports whether text has no whitespace, and no keys with non-ASCII characters or
// escapes other than those of quotes and backslashes. Plain field sets need no decoding. Most
// requests contain them, because clients send field sets back as the server wrote them. The caller
// must check the JSON syntax.
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

// plainKeyEnd returns the offset of the quote that ends the key at i, or -1 if the key is not
// plain.
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

// fieldSet reads a field set as a JSON string. It returns nil for null.
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

// equalsBase reports whether the stored object in base contains the same field set. An unchanged
// field set is not checked again and may nest deeper than incoming JSON.
func (c *conformer) equalsBase(text string) bool {
	metadata, _ := c.base["metadata"].(tree.Tree)
	managers, _ := metadata["managedFields"].([]any)
	return slices.ContainsFunc(managers, func(entry any) bool {
		manager, _ := entry.(tree.Tree)
		return manager["fieldsV1"] == text
	})
}

// fieldSet conforms a field set, which is an object in a patch, but a string in the tree of a
// stored object. It also checks strings, because a patch may contain one.
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
