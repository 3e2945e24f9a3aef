package cel

import (
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"

	"github.com/troupe-api/troupe/kinds/tree"
)

// An adapter converts tree values when an expression reads them. It does not copy, because
// expressions cannot change values. Without a registry, it converts only tree values and standard
// CEL types.
type adapter struct{ *types.Registry }

// NativeToValue converts a nil tree.Tree, which represents an absent object, to null. cel-go would
// return an empty map.
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
