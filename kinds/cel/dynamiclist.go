package cel

import (
	"reflect"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// A dynamicList is a list of a tree without a schema. What expressions of policies do with lists, which is mostly to
// go through them, is here; the rest is left to the list of the library, which takes several allocations to be made and
// reads each element by reflection.
type dynamicList []any

var (
	_ traits.Lister   = dynamicList(nil)
	_ traits.Foldable = dynamicList(nil)
)

// library is the same list as the library has it. Its semantics are the standard ones; whatever is not written here
// again is left to it.
func (l dynamicList) library() traits.Lister { return types.NewDynamicList(adapter{}, []any(l)) }

// Get implements traits.Indexer. Indexes that are no integers are converted, and worded, by the library.
func (l dynamicList) Get(index ref.Val) ref.Val {
	if i, ok := index.(types.Int); ok && i >= 0 && int(i) < len(l) {
		return adapter{}.NativeToValue(l[i])
	}
	return l.library().Get(index)
}

// Size implements traits.Sizer.
func (l dynamicList) Size() ref.Val { return types.Int(len(l)) }

// IsZeroValue implements traits.Zeroer.
func (l dynamicList) IsZeroValue() bool { return len(l) == 0 }

// Iterator implements traits.Iterable.
func (l dynamicList) Iterator() traits.Iterator { return &dynamicIterator{elements: l} }

// Fold implements traits.Foldable.
func (l dynamicList) Fold(f traits.Folder) {
	for i, v := range l {
		if !f.FoldEntry(i, v) {
			break
		}
	}
}

// Contains implements traits.Container.
func (l dynamicList) Contains(element ref.Val) ref.Val { return l.library().Contains(element) }

// Add implements traits.Adder.
func (l dynamicList) Add(other ref.Val) ref.Val { return l.library().Add(other) }

// ConvertToNative implements ref.Val.
func (l dynamicList) ConvertToNative(t reflect.Type) (any, error) {
	return l.library().ConvertToNative(t)
}

// ConvertToType implements ref.Val.
func (l dynamicList) ConvertToType(t ref.Type) ref.Val {
	switch t {
	case types.ListType:
		return l
	case types.TypeType:
		return types.ListType
	}
	return l.library().ConvertToType(t)
}

// Equal implements ref.Val.
func (l dynamicList) Equal(other ref.Val) ref.Val { return l.library().Equal(other) }

// Type implements ref.Val.
func (l dynamicList) Type() ref.Type { return types.ListType }

// Value implements ref.Val.
func (l dynamicList) Value() any { return []any(l) }

// A dynamicIterator goes through a dynamicList. The embedded ref.Val is never set: nothing but HasNext and Next is
// called on an iterator.
type dynamicIterator struct {
	ref.Val
	elements []any
}

// HasNext implements traits.Iterator.
func (i *dynamicIterator) HasNext() ref.Val { return types.Bool(len(i.elements) > 0) }

// Next implements traits.Iterator.
func (i *dynamicIterator) Next() ref.Val {
	v := i.elements[0]
	i.elements = i.elements[1:]
	return adapter{}.NativeToValue(v)
}
