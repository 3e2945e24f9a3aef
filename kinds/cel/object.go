package cel

import (
	"fmt"
	"reflect"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"

	"github.com/troupe-api/troupe/kinds/tree"
)

// An object is the CEL value of an object or map with a schema. Expressions select fields by
// escaped names. Map keys are data and are not escaped.
type object struct {
	tree   tree.Tree
	schema *Schema
}

func (o *object) child(name string) *Schema {
	if o.schema.Properties != nil {
		return o.schema.Properties[name]
	}
	return o.schema.Additional
}

func (o *object) ConvertToNative(t reflect.Type) (any, error) {
	if t.Kind() == reflect.Map {
		return map[string]any(o.tree), nil
	}
	return nil, fmt.Errorf("type conversion error from '%s' to '%s'", o.Type(), t)
}

func (o *object) ConvertToType(t ref.Type) ref.Val { return convertToType(o, t) }

// Equal also compares undeclared fields that both objects have, so that transition rules detect
// changes to them.
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

func (o *object) Type() ref.Type { return types.MapType }

func (o *object) Value() any { return map[string]any(o.tree) }

func (o *object) Contains(key ref.Val) ref.Val {
	v, found := o.Find(key)
	if v != nil && types.IsUnknownOrError(v) {
		return v
	}
	return types.Bool(found)
}

func (o *object) Get(key ref.Val) ref.Val {
	if v, found := o.Find(key); found {
		return v
	}
	return types.ValOrErr(key, "no such key: %v", key)
}

// Find returns the value of a field or map entry. A null field counts as absent, but a map entry
// may be null.
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

func (o *object) Size() ref.Val { return types.Int(len(o.tree)) }

// Iterator returns the keys that expressions can select, in random order.
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

// An iterator iterates over values. The interpreter calls only HasNext and Next, so the embedded
// ref.Val is nil.
type iterator struct {
	ref.Val
	values []ref.Val
	next   int
}

func (i *iterator) HasNext() ref.Val { return types.Bool(i.next < len(i.values)) }

func (i *iterator) Next() ref.Val {
	i.next++
	return i.values[i.next-1]
}

// An unknown is a value without a schema. The type checker permits only comparisons.
type unknown struct{ value any }

func (u unknown) ConvertToNative(t reflect.Type) (any, error) {
	return nil, fmt.Errorf("type conversion to '%s' not supported for values preserved by x-platform-preserve-unknown-fields", t)
}

func (u unknown) ConvertToType(t ref.Type) ref.Val {
	return types.NewErr("type conversion to '%s' not supported for values preserved by x-platform-preserve-unknown-fields", t.TypeName())
}

func (u unknown) Equal(other ref.Val) ref.Val {
	return types.Bool(tree.SemanticEqual(u.value, other.Value()))
}

func (u unknown) Type() ref.Type { return types.UnknownType }

func (u unknown) Value() any { return u.value }
