package cel

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"

	"github.com/troupe-api/troupe/kinds/tree"
)

// Native converts a value to a tree value: tree.Tree, []any, string, int64, float64, bool or nil.
// The result shares no memory with v. Bytes become base64, times and durations become strings, and
// optionals become their values. Objects with a schema retain undeclared fields. A value without a
// JSON form, such as NaN, is an error.
func Native(v Value) (any, error) {
	switch v := v.(type) {
	case types.Null:
		return nil, nil
	case types.Bool:
		return bool(v), nil
	case types.Int:
		return int64(v), nil
	case types.Uint:
		if v > math.MaxInt64 {
			return nil, fmt.Errorf("%d is too large", uint64(v))
		}
		return int64(v), nil
	case types.Double:
		if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, fmt.Errorf("%v is not a JSON number", f)
		}
		return float64(v), nil
	case types.String:
		return string(v), nil
	case types.Bytes:
		return base64.StdEncoding.EncodeToString(v), nil
	case types.Timestamp, types.Duration:
		return v.ConvertToType(types.StringType).Value(), nil
	case *patchObject:
		return nativeFields(v.fields)
	case *types.Optional:
		if !v.HasValue() {
			return nil, errors.New("optional.none() dereference")
		}
		return Native(v.GetValue())
	case *object:
		return tree.Clone(v.tree), nil
	case traits.Lister:
		return nativeList(v)
	case traits.Mapper:
		return nativeMap(v)
	case *types.Err:
		return nil, v
	}
	return nil, fmt.Errorf("type conversion error from '%s' to JSON", v.Type().TypeName())
}

func nativeFields(fields map[string]ref.Val) (tree.Tree, error) {
	t := make(tree.Tree, len(fields))
	for name, f := range fields {
		v, err := Native(f)
		if err != nil {
			return nil, fmt.Errorf("fail to convert field %q: %w", name, err)
		}
		t[name] = v
	}
	return t, nil
}

// nativeList returns an empty list, not nil, for a list without elements.
func nativeList(l traits.Lister) (any, error) {
	all := []any{}
	for it := l.Iterator(); it.HasNext() == types.True; {
		v, err := Native(it.Next())
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}

// nativeMap converts a map. It returns an error for keys that are not strings, which CEL allows.
func nativeMap(m traits.Mapper) (any, error) {
	t := tree.Tree{}
	for it := m.Iterator(); it.HasNext() == types.True; {
		key := it.Next()
		name, ok := key.(types.String)
		if !ok {
			return nil, fmt.Errorf("map key %q is of type %T, not string", key, key)
		}
		value, found := m.Find(key)
		if !found {
			continue
		}
		v, err := Native(value)
		if err != nil {
			return nil, err
		}
		t[string(name)] = v
	}
	return t, nil
}

// PatchTree returns the content of a result of type ObjectPatch. It fails if the type of a part
// does not match its position. For example, Object.spec is valid only as the field spec of Object.
func PatchTree(v Value) (tree.Tree, error) {
	o, ok := v.(*patchObject)
	if !ok {
		return nil, fmt.Errorf("unsupported return type from ApplyConfiguration expression: %v", v.Type())
	}
	if err := errors.Join(misplaced(o, o.typeName)...); err != nil {
		return nil, fmt.Errorf("type mismatch: %w", err)
	}
	t, err := Native(o)
	if err != nil {
		return nil, err
	}
	return t.(tree.Tree), nil
}

// Truth reports whether a result is the boolean true.
func Truth(v Value) bool { return v == types.True }

// Text returns a string result, or false if the result is not a string.
func Text(v Value) (string, bool) {
	s, ok := v.(types.String)
	return string(s), ok
}

// IsNull reports whether a result is null.
func IsNull(v Value) bool { return v == types.NullValue }

// Fault returns a value that fails every evaluation that reads it.
func Fault(err error) Value { return types.WrapErr(err) }

// Optional returns a CEL optional that contains v, or an empty optional if v is nil.
func Optional(v Value) Value {
	if v == nil {
		return types.OptionalNone
	}
	return types.OptionalOf(v)
}
