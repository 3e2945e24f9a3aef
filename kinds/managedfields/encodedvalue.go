package managedfields

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// null is an explicit null: the encoding of an absent EmitEmpty field, a null in a configuration,
// or a stored null of a custom object.
type null struct{}

// emptied replaces a list or object from which everything was removed.
type emptied struct{}

func (c comparer) encodedValues(f *schema.Field, x, y any) (before, after any) {
	if c.asEncoded {
		return encodedValue(f, x), encodedValue(f, y)
	}
	if y != nil { // the old value comes from an encoding
		x = encodedValue(f, x)
	}
	return x, y
}

// encodedValue returns the value that a client sees for a field, or nil if the encoder omits it.
// Clients send back objects that they have read. A field that the encoder adds, such as
// "resources":{}, must therefore not look like the client's change, nor an omitted one like a
// removal.
func encodedValue(f *schema.Field, v any) any {
	// The encoder writes single messages, int-or-strings and raw values even if they are empty.
	omitsEmpty := !f.EmitEmpty && !f.Pointer &&
		(f.Shape != schema.Single || f.Type != schema.TypeMessage && f.Type != schema.TypeIntOrString && f.Type != schema.TypeRaw)
	switch {
	case v != nil && omitsEmpty && tree.IsEmpty(v):
		return nil
	case v != nil || !f.EmitEmpty:
		return v
	}
	if f.Shape != schema.Single || f.Pointer {
		return null{}
	}
	switch f.Type {
	case schema.TypeMessage:
		return tree.Tree{}
	case schema.TypeString:
		return ""
	case schema.TypeBool:
		return false
	case schema.TypeInt32, schema.TypeInt64, schema.TypeIntOrString:
		return int64(0)
	case schema.TypeDouble:
		return float64(0)
	case schema.TypeQuantity:
		return "0"
	case schema.TypeDuration:
		return "0s"
	}
	return null{}
}

// equalEncoded reports whether two values have the same encoding. Unlike for tree.StrictEqual, an
// absent field equals the value that the encoder writes for it.
func equalEncoded(f *schema.Field, element bool, a, b any) bool {
	switch x := a.(type) {
	case tree.Tree:
		y, ok := b.(tree.Tree)
		if !ok {
			return false
		}
		if (element || f.Shape == schema.Single) && f.Type == schema.TypeMessage {
			if f.Message.Additional != nil {
				return tree.StrictEqual(x, y)
			}
			return !slices.ContainsFunc(f.Message.Fields, func(f *schema.Field) bool {
				return !equalEncoded(f, false, encodedValue(f, x[f.Name]), encodedValue(f, y[f.Name]))
			})
		}
		return len(x) == len(y) && !slices.ContainsFunc(x.SortedKeys(), func(key string) bool {
			v, there := y[key]
			return !there || !equalEncoded(f, true, x[key], v)
		})
	case []any:
		y, ok := b.([]any)
		return ok && slices.EqualFunc(x, y, func(v, w any) bool { return equalEncoded(f, true, v, w) })
	}
	switch b.(type) {
	case tree.Tree, []any:
		return false
	}
	return a == b
}
