package codec

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// single conforms one value or element of a field. Numbers are json.Number or int64 from JSON
// patches and CBOR, and int64 or float64 from YAML.
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
	whole := v // returned instead of v, which would be boxed again
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
	case taggedBytes:
		if f.Type == schema.TypeBytes { // bytes are base64, whatever encoding the tag requests
			v.tag = tagBase64
		}
		return c.fromString(f, v.String())
	}
	c.mismatchOf(v, elementType(f))
	return nil
}

// fromInteger converts an integer without formatting and parsing it. fromNumber reports an error if
// n does not fit.
func (c *conformer) fromInteger(f *schema.Field, n int64) any {
	if f.Type == schema.TypeInt64 || (f.Type == schema.TypeInt32 || f.Type == schema.TypeIntOrString) && int64(int32(n)) == n {
		return n
	}
	return c.fromNumber(f, strconv.FormatInt(n, 10))
}

// raw converts the numbers in a value of unknown type to int64 and float64. The only errors are
// excessive depth and values that a tree cannot represent.
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
	case taggedBytes:
		return v.String()
	case float64:
		return asReadBack(v)
	case string, bool, int64, nil:
		return v
	}
	c.mismatchOf(v, "interface {}")
	return nil
}

// floatLiteral formats whole numbers without an exponent. The float64 1e6 is valid for an int32,
// but strconv.ParseInt does not parse "1e+06".
func floatLiteral(n float64) string {
	if n == math.Trunc(n) && math.Abs(n) < 1<<63 {
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	return strconv.FormatFloat(n, 'g', -1, 64)
}

func valueType(v any) string {
	switch v.(type) {
	case tree.Tree:
		return "object"
	case []any:
		return "array"
	case string, taggedBytes:
		return "string"
	case bool:
		return "bool"
	case nil:
		return "null"
	}
	return "number"
}
