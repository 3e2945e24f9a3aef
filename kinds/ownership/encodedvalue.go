package ownership

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// null is a value that is there and has no content: what is written for a field without a value, a null of a
// configuration, and one that an object of a custom kind has stored.
type null struct{}

// emptied is what a list or an object becomes that has lost everything.
type emptied struct{}

// encodedValues are the values of a field before and after, as they are to be compared.
func (c comparer) encodedValues(f *schema.Field, x, y any) (before, after any) {
	if c.asEncoded {
		return encodedValue(f, x), encodedValue(f, y)
	}
	if y != nil { // the value before comes from an encoding, too
		x = encodedValue(f, x)
	}
	return x, y
}

// omitsEmpty tells whether a field is left out of an encoding when it is empty. A single message, an
// int-or-string and a raw value are written even when they are empty.
func omitsEmpty(f *schema.Field) bool {
	return f.Shape != schema.Single || f.Type != schema.TypeMessage && f.Type != schema.TypeIntOrString && f.Type != schema.TypeRaw
}

// encodedValue is the value of a field as it is encoded; nil if it is left out.
//
// Clients read objects as they are encoded, change them, and send them back. A field that encoding has
// added, such as "resources":{}, must not look like a change of theirs; one that encoding drops must not
// look like a removal.
func encodedValue(f *schema.Field, v any) any {
	switch {
	case v != nil && !f.EmitEmpty && !f.Pointer && omitsEmpty(f) && tree.IsEmpty(v):
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

// equalEncoded tells whether two values are encoded in the same way. tree.StrictEqual would be too strict:
// an absent field and one with the value that is written for it are the same to every reader.
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
