package cel

import (
	"fmt"
	"reflect"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/troupe-api/troupe/kinds/tree"
)

// An object is an object or a map with a schema. A schema declares either fields, which are selected by
// escaped names, or the values of a map, whose keys are data and are never escaped.
type object struct {
	tree   tree.Tree
	schema *Schema
}

// child is the schema of a field or an entry; nil if there is none. A field that the schema does not have
// cannot be selected, although the tree may have it.
func (o *object) child(name string) *Schema {
	if o.schema.Properties != nil {
		return o.schema.Properties[name]
	}
	return o.schema.Additional
}

// ConvertToNative implements ref.Val.
func (o *object) ConvertToNative(t reflect.Type) (any, error) {
	if t.Kind() == reflect.Map {
		return map[string]any(o.tree), nil
	}
	return nil, fmt.Errorf("type conversion error from '%s' to '%s'", o.Type(), t)
}

// ConvertToType implements ref.Val.
func (o *object) ConvertToType(t ref.Type) ref.Val {
	switch t {
	case types.MapType:
		return o
	case types.TypeType:
		return types.MapType
	}
	return types.NewErr("type conversion error from '%s' to '%s'", o.Type(), t.TypeName())
}

// Equal implements ref.Val. Fields without a schema cannot be seen by expressions but count in comparisons,
// so that a transition rule notices a change in them; they are compared as trees.
func (o *object) Equal(other ref.Val) ref.Val {
	m, ok := other.(traits.Mapper)
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	if o.Size() != m.Size() {
		return types.False
	}
	for name, v := range o.tree {
		if o.child(name) == nil {
			second, ok := other.(*object)
			if !ok {
				return types.MaybeNoSuchOverloadErr(other)
			}
			if w, there := second.tree[name]; there && !tree.SemanticEqual(v, w) {
				return types.False
			}
			continue
		}
		x, found := o.Find(types.String(name))
		y, foundToo := m.Find(types.String(name))
		if found != foundToo {
			return types.False
		}
		if !found {
			continue
		}
		if equal := x.Equal(y); equal != types.True {
			return equal
		}
	}
	return types.True
}

// Type implements ref.Val.
func (o *object) Type() ref.Type { return types.MapType }

// Value implements ref.Val.
func (o *object) Value() any { return map[string]any(o.tree) }

// Contains implements traits.Container.
func (o *object) Contains(key ref.Val) ref.Val {
	v, found := o.Find(key)
	if v != nil && types.IsUnknownOrError(v) {
		return v
	}
	return types.Bool(found)
}

// Get implements traits.Indexer.
func (o *object) Get(key ref.Val) ref.Val {
	if v, found := o.Find(key); found {
		return v
	}
	return types.ValOrErr(key, "no such key: %v", key)
}

// Find implements traits.Mapper. A field that is null is none. Entries of a map may be null and are found.
func (o *object) Find(key ref.Val) (ref.Val, bool) {
	text, ok := key.(types.String)
	if !ok {
		return types.MaybeNoSuchOverloadErr(key), true
	}
	name := string(text)
	isObject := o.schema.Properties != nil
	if isObject {
		if name, ok = unescape(name); !ok {
			return nil, false
		}
	}
	v, there := o.tree[name]
	child := o.child(name)
	if !there || isObject && v == nil || child == nil {
		return nil, false
	}
	return child.Value(v), true
}

// Size implements traits.Sizer.
func (o *object) Size() ref.Val { return types.Int(len(o.tree)) }

// Iterator implements traits.Iterable. Keys are those that expressions can select; the order is that of the
// Go map and thus undefined.
func (o *object) Iterator() traits.Iterator {
	keys := make([]ref.Val, 0, len(o.tree))
	for name := range o.tree {
		if o.child(name) == nil {
			continue
		}
		if o.schema.Properties != nil {
			if escaped, ok := Escape(name); ok {
				name = escaped
			}
		}
		keys = append(keys, types.String(name))
	}
	return &iterator{values: keys}
}

// An iterator goes through values. The embedded ref.Val is never set: nothing but HasNext and Next is
// called on an iterator.
type iterator struct {
	ref.Val
	values []ref.Val
	next   int
}

// HasNext implements traits.Iterator.
func (i *iterator) HasNext() ref.Val { return types.Bool(i.next < len(i.values)) }

// Next implements traits.Iterator.
func (i *iterator) Next() ref.Val {
	i.next++
	return i.values[i.next-1]
}

// unknown is a value without a schema, which can only be compared. A field that is preserved without a
// schema may hold anything, so no operation on its parts could be type-checked.
type unknown struct{ value any }

// ConvertToNative implements ref.Val.
func (u unknown) ConvertToNative(t reflect.Type) (any, error) {
	return nil, fmt.Errorf("type conversion to '%s' not supported for values preserved by x-platform-preserve-unknown-fields", t)
}

// ConvertToType implements ref.Val.
func (u unknown) ConvertToType(t ref.Type) ref.Val {
	return types.NewErr("type conversion to '%s' not supported for values preserved by x-platform-preserve-unknown-fields", t.TypeName())
}

// Equal implements ref.Val.
func (u unknown) Equal(other ref.Val) ref.Val {
	return types.Bool(tree.SemanticEqual(u.value, other.Value()))
}

// Type implements ref.Val.
func (u unknown) Type() ref.Type { return types.UnknownType }

// Value implements ref.Val.
func (u unknown) Value() any { return u.value }
