package cel

import (
	"reflect"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// A dynamicMap is an object of a tree without a schema. It is as large as a pointer, so that looking at an
// object takes no memory; what is rare is left to the map of the library. The fields of objects in policies
// and of parameters are looked up in every request; the library's own map takes an allocation of several
// words for each level of a path.
type dynamicMap map[string]any

var (
	_ traits.Mapper   = dynamicMap(nil)
	_ traits.Foldable = dynamicMap(nil)
)

// library is the same map as the library has it. Its semantics are the standard ones; whatever is not
// written here again is left to it.
func (m dynamicMap) library() traits.Mapper {
	return types.NewStringInterfaceMap(adapter{}, map[string]any(m))
}

// Find implements traits.Mapper. Keys that are no texts can only be equal to none, but the library words
// their faults.
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

// Get implements traits.Indexer.
func (m dynamicMap) Get(key ref.Val) ref.Val {
	v, found := m.Find(key)
	if !found {
		return types.ValOrErr(v, "no such key: %v", key)
	}
	return v
}

// Contains implements traits.Container.
func (m dynamicMap) Contains(key ref.Val) ref.Val {
	if name, ok := key.(types.String); ok {
		_, found := m[string(name)]
		return types.Bool(found)
	}
	return m.library().Contains(key)
}

// Size implements traits.Sizer.
func (m dynamicMap) Size() ref.Val { return types.Int(len(m)) }

// IsZeroValue implements traits.Zeroer.
func (m dynamicMap) IsZeroValue() bool { return len(m) == 0 }

// Iterator implements traits.Iterable.
func (m dynamicMap) Iterator() traits.Iterator { return m.library().Iterator() }

// Fold implements traits.Foldable. The order is that of the Go map, on which no expression may depend.
func (m dynamicMap) Fold(f traits.Folder) {
	for name, v := range m {
		if !f.FoldEntry(name, v) {
			break
		}
	}
}

// ConvertToNative implements ref.Val.
func (m dynamicMap) ConvertToNative(t reflect.Type) (any, error) {
	return m.library().ConvertToNative(t)
}

// ConvertToType implements ref.Val.
func (m dynamicMap) ConvertToType(t ref.Type) ref.Val {
	switch t {
	case types.MapType:
		return m
	case types.TypeType:
		return types.MapType
	}
	return m.library().ConvertToType(t)
}

// Equal implements ref.Val.
func (m dynamicMap) Equal(other ref.Val) ref.Val { return m.library().Equal(other) }

// Type implements ref.Val.
func (m dynamicMap) Type() ref.Type { return types.MapType }

// Value implements ref.Val.
func (m dynamicMap) Value() any { return map[string]any(m) }
