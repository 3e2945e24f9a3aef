package cel

import (
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/troupe-api/troupe/kinds/tree"
)

// An adapter converts values of trees on access, without copying. Without a registry it knows no
// other types. Sharing trees is safe because expressions cannot change values.
type adapter struct{ *types.Registry }

// NativeToValue maps a nil tree.Tree, an absent object, to null; a type switch would treat it as an
// empty map.
func (a adapter) NativeToValue(v any) ref.Val {
	switch v := v.(type) {
	case tree.Tree:
		if v == nil {
			return types.NullValue
		}
		return dynamicMap(v)
	case map[string]any:
		return dynamicMap(v)
	case []any:
		return dynamicList(v)
	}
	if a.Registry == nil {
		return types.DefaultTypeAdapter.NativeToValue(v)
	}
	return a.Registry.NativeToValue(v)
}
