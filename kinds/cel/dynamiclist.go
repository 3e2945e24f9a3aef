package cel

import (
	"reflect"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
)

// A dynamicList exposes a schemaless list to CEL. It implements iteration, because cel-go's list
// reads elements by reflection and allocates several times. It delegates rare operations to
// cel-go's list.
type dynamicList []any

var (
	_ traits.Lister   = dynamicList(nil)
	_ traits.Foldable = dynamicList(nil)
)

func (l dynamicList) library() traits.Lister { return types.NewDynamicList(adapter{}, []any(l)) }

// Get returns an element. It delegates an index that is not a valid Int to cel-go, which accepts
// other integral numbers and reports errors.
func (l dynamicList) Get(index ref.Val) ref.Val {
	if i, ok := index.(types.Int); ok && i >= 0 && int(i) < len(l) {
		return adapter{}.NativeToValue(l[i])
	}
	return l.library().Get(index)
}

func (l dynamicList) Size() ref.Val { return types.Int(len(l)) }

func (l dynamicList) IsZeroValue() bool { return len(l) == 0 }

func (l dynamicList) Iterator() traits.Iterator { return &dynamicIterator{elements: l} }

func (l dynamicList) Fold(f traits.Folder) {
	for i, v := range l {
		if !f.FoldEntry(i, v) {
			break
		}
	}
}

func (l dynamicList) Contains(element ref.Val) ref.Val { return l.library().Contains(element) }

func (l dynamicList) Add(other ref.Val) ref.Val { return l.library().Add(other) }

func (l dynamicList) ConvertToNative(t reflect.Type) (any, error) {
	return l.library().ConvertToNative(t)
}

func (l dynamicList) ConvertToType(t ref.Type) ref.Val { return convertToType(l, t) }

func (l dynamicList) Equal(other ref.Val) ref.Val { return l.library().Equal(other) }

func (l dynamicList) Type() ref.Type { return types.ListType }

func (l dynamicList) Value() any { return []any(l) }

// A dynamicIterator iterates over a dynamicList. The interpreter calls only HasNext and Next, so
// the embedded ref.Val is nil.
type dynamicIterator struct {
	ref.Val
	elements []any
}

func (i *dynamicIterator) HasNext() ref.Val { return types.Bool(len(i.elements) > 0) }

func (i *dynamicIterator) Next() ref.Val {
	v := i.elements[0]
	i.elements = i.elements[1:]
	return adapter{}.NativeToValue(v)
}
