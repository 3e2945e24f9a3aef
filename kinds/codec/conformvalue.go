package codec

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// single conforms one value of the type of f, whatever its shape.
//
// Numbers of JSON patches are json.Number or int64, those of YAML int64 or float64, those of CBOR int64 or
// json.Number: all of them go the same way as the literal of a decoder.
func (c *conformer) single(f *schema.Field, v any) any {
	switch f.Type {
	case schema.TypeRaw:
		if f.Message != nil {
			return c.union(f.Message, v)
		}
		return c.raw(v)
	case schema.TypeStrings:
		return c.strings(v)
	case schema.TypeFields:
		return c.fieldSet(f, v)
	}
	if f.Type == schema.TypeMessage {
		if object, ok := v.(tree.Tree); ok {
			return c.message(f.Message, object)
		}
		c.mismatchOf(v, elementType(f))
		return nil
	}
	whole := v // returned instead of the string in it, which would be boxed again
	switch v := v.(type) {
	case string:
		if f.Type == schema.TypeString {
			return whole
		}
		return c.fromString(f, v)
	case bool:
		return c.fromBool(f, v)
	case int64:
		return c.fromInteger(f, v)
	case int:
		return c.fromInteger(f, int64(v))
	case float64:
		return c.fromNumber(f, floatLiteral(v))
	case json.Number:
		return c.fromNumber(f, v.String())
	case laterText:
		if f.Type == schema.TypeBytes { // the text of bytes is base64, whichever the tag asks for
			v.tag = tagBase64
		}
		return c.fromString(f, v.String())
	}
	c.mismatchOf(v, elementType(f))
	return nil
}

// fromInteger is fromNumber without formatting and parsing the number, as nearly all numbers are whole.
// What does not fit, such as 1<<40 in an int32, still takes that way, for its error.
func (c *conformer) fromInteger(f *schema.Field, n int64) any {
	if f.Type == schema.TypeInt64 || (f.Type == schema.TypeInt32 || f.Type == schema.TypeIntOrString) && int64(int32(n)) == n {
		return n
	}
	return c.fromNumber(f, strconv.FormatInt(n, 10))
}

// raw turns the numbers of a value without a plan into int64 and float64.
//
// Nothing is unknown here; only the depth is bounded, and what cannot be in a tree is an error.
func (c *conformer) raw(v any) any {
	switch v := v.(type) {
	case tree.Tree:
		if !c.enter() {
			return nil
		}
		defer c.leave()
		edit := tree.CopyOnWrite{From: v}
		for key, item := range v {
			replace(&edit, key, item, c.raw(item))
		}
		return edit.Result()
	case []any:
		if !c.enter() {
			return nil
		}
		defer c.leave()
		out := v
		for i, item := range v {
			if made := c.raw(item); !tree.SameRef(item, made) {
				if &out[0] == &v[0] {
					out = slices.Clone(v)
				}
				out[i] = made
			}
		}
		return out
	case json.Number:
		return c.anyNumber(v.String())
	case int:
		return int64(v)
	case laterText:
		return v.String()
	case float64:
		return asReadBack(v)
	case string, bool, int64, nil:
		return v
	}
	c.mismatchOf(v, "interface {}")
	return nil
}

// floatLiteral writes a number so that an integral one reads as an integer. In YAML and in patches 1e6 may
// be a float64, and is a valid value of an int32; strconv.ParseInt reads 1000000 but not 1e+06. From 1<<63
// on no int64 could hold it anyway.
func floatLiteral(n float64) string {
	if n == math.Trunc(n) && math.Abs(n) < 1<<63 {
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	return strconv.FormatFloat(n, 'g', -1, 64)
}

// valueType names a value of a tree as errors do.
func valueType(v any) string {
	switch v.(type) {
	case tree.Tree:
		return "object"
	case []any:
		return "array"
	case string, laterText:
		return "string"
	case bool:
		return "bool"
	case nil:
		return "null"
	}
	return "number"
}
