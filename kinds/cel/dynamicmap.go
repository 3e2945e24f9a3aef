package cel

import (
	"reflect"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
)

// A dynamicMap exposes a schemaless object to CEL. Unlike cel-go's map, it does not allocate,
// because policies read objects in every request. It delegates rare operations to cel-go's map.
type dynamicMap map[string]any

var (
	_ traits.Mapper   = dynamicMap(nil)
	_ traits.Foldable = dynamicMap(nil)
)

func (m dynamicMap) library() traits.Mapper {
	return types.NewStringInterfaceMap(adapter{}, map[string]any(m))
}

// Find delegates non-string keys to cel-go, which returns the error.
func (m dynamicMap) Find(key ref.Val) (ref.Val, bool) {
	name, ok := key.(types.String)
	if !ok {
		return m.library().Find(key)
	}
	v, found := m[string(name)]
	if !found {
		return nil, false
	}
	return adapter{}.NativeToValue(v), true
}

func (m dynamicMap) Get(key ref.Val) ref.Val {
	v, found := m.Find(key)
	if !found {
		return types.ValOrErr(v, "no such key: %v", key)
	}
	return v
}

func (m dynamicMap) Contains(key ref.Val) ref.Val {
	if name, ok := key.(types.String); ok {
		_, found := m[string(name)]
		return types.Bool(found)
	}
	return m.library().Contains(key)
}

func (m dynamicMap) Size() ref.Val { return types.Int(len(m)) }

func (m dynamicMap) IsZeroValue() bool { return len(m) == 0 }

func (m dynamicMap) Iterator() traits.Iterator { return m.library().Iterator() }

// Fold visits entries in the random order of the Go map. Expressions must not depend on the order.
func (m dynamicMap) Fold(f traits.Folder) {
	for name, v := range m {
		if !f.FoldEntry(name, v) {
			break
		}
	}
}

func (m dynamicMap) ConvertToNative(t reflect.Type) (any, error) {
	return m.library().ConvertToNative(t)
}

func (m dynamicMap) ConvertToType(t ref.Type) ref.Val { return convertToType(m, t) }

func (m dynamicMap) Equal(other ref.Val) ref.Val { return m.library().Equal(other) }

func (m dynamicMap) Type() ref.Type { return types.MapType }

func (m dynamicMap) Value() any { return map[string]any(m) }
