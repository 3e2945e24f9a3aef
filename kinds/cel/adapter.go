package cel

import (
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/troupe-api/troupe/kinds/tree"
)

// An adapter makes values of what trees hold, when it is looked at: nothing is copied. Without a registry
// it knows no other types than these. Trees are shared with other readers, which is safe because no
// expression can change a value.
type adapter struct{ *types.Registry }

// NativeToValue implements types.Adapter. A nil tree.Tree is an absent object, which a type switch would
// otherwise take for an empty map.
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
