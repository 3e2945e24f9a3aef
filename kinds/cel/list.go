package cel

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"

	"github.com/troupe-api/troupe/kinds/tree"
)

// A list exposes a list with a schema to CEL. It converts elements when they are read.
type list struct {
	elements []any
	schema   *Schema // element schema
}

func (l *list) ConvertToNative(t reflect.Type) (any, error) {
	if t.Kind() != reflect.Slice {
		return nil, fmt.Errorf("type conversion error from '%s' to '%s'", l.Type(), t)
	}
	if l.schema.Type != "string" {
		return l.elements, nil
	}
	var texts []string
	for _, e := range l.elements {
		text, ok := e.(string)
		if !ok {
			return nil, fmt.Errorf("expected all elements to be of type string, but got %T", e)
		}
		texts = append(texts, text)
	}
	return texts, nil
}

func convertToType(v ref.Val, t ref.Type) ref.Val {
	switch t {
	case v.Type():
		return v
	case types.TypeType:
		return v.Type().(*types.Type)
	}
	return types.NewErr("type conversion error from '%s' to '%s'", v.Type(), t.TypeName())
}

func (l *list) ConvertToType(t ref.Type) ref.Val { return convertToType(l, t) }

// Equal compares the elements in order. It returns an error if two elements cannot be compared.
func (l *list) Equal(other ref.Val) ref.Val {
	o, ok := other.(traits.Lister)
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	if l.Size() != o.Size() {
		return types.False
	}
	for i := range l.elements {
		if equal := l.at(i).Equal(o.Get(types.Int(i))); equal != types.True {
			return equal
		}
	}
	return types.True
}

func (l *list) Type() ref.Type { return types.ListType }

func (l *list) Value() any { return l.elements }

// Add returns the concatenation. It copies the elements, because a stored tree may share the slice.
func (l *list) Add(other ref.Val) ref.Val {
	o, ok := other.(traits.Lister)
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	return &list{append(slices.Clip(l.elements), natives(o)...), l.schema}
}

// natives returns the elements of a list as tree values. It converts only lists of other packages.
func natives(l traits.Lister) []any {
	var all []any
	switch l := l.(type) {
	case *list:
		return l.elements
	case *setList:
		return l.elements
	case *mapList:
		return l.elements
	}
	for it := l.Iterator(); it.HasNext() == types.True; {
		all = append(all, it.Next().Value())
	}
	return all
}

// Contains reports whether an element equals v. If none does, but some cannot be compared, it
// returns an error.
func (l *list) Contains(v ref.Val) ref.Val {
	if types.IsUnknownOrError(v) {
		return v
	}
	var fault ref.Val
	for i := range l.elements {
		switch equal := l.at(i).Equal(v); {
		case equal == types.True:
			return types.True
		case equal != types.False && fault == nil:
			fault = types.MaybeNoSuchOverloadErr(equal)
		}
	}
	if fault != nil {
		return fault
	}
	return types.False
}

func (l *list) Get(index ref.Val) ref.Val {
	i, ok := index.(types.Int)
	if !ok {
		return types.ValOrErr(index, "unsupported index: %v", index)
	}
	if i < 0 || int(i) >= len(l.elements) {
		return types.NewErr("index out of bounds: %v", index)
	}
	return l.at(int(i))
}

func (l *list) at(i int) ref.Val { return l.schema.Value(l.elements[i]) }

func (l *list) Iterator() traits.Iterator { return &listIterator{list: l} }

func (l *list) Size() ref.Val { return types.Int(len(l.elements)) }

// A listIterator converts one element at a time, so that a loop that ends early does not convert
// the rest.
type listIterator struct {
	*list
	next int
}

func (i *listIterator) HasNext() ref.Val { return types.Bool(i.next < len(i.elements)) }

func (i *listIterator) Next() ref.Val {
	i.next++
	return i.at(i.next - 1)
}

type setList struct{ *list }

// setOf returns the distinct elements of l, or an error if some are not scalars.
func setOf(l traits.Lister) (map[any]bool, ref.Val) {
	set := map[any]bool{}
	for it := l.Iterator(); it.HasNext() == types.True; {
		key, err := setKey(it.Next())
		if err != nil {
			return nil, err
		}
		set[key] = true
	}
	return set, nil
}

// setKey converts timestamps to UTC, because equal timestamps may have different zones. It converts
// bytes to an array, so that they differ from strings.
func setKey(v ref.Val) (key any, err ref.Val) {
	switch v := v.(type) {
	case types.Bytes:
		return [1]string{string(v)}, nil
	case types.Timestamp:
		return v.UTC(), nil
	case traits.Lister, traits.Mapper, *object:
		return nil, types.NewErr("listSet operations are only supported on lists of scalar values")
	}
	return asKey(v.Value()), nil
}

// Equal reports whether the elements are equal, in any order.
func (s *setList) Equal(other ref.Val) ref.Val {
	o, ok := other.(traits.Lister)
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	if s.Size() != o.Size() {
		return types.False
	}
	set, err := setOf(s)
	if err != nil {
		return err
	}
	others, err := setOf(o)
	if err != nil {
		return err
	}
	return types.Bool(maps.Equal(set, others))
}

// Add appends the elements that s does not contain.
func (s *setList) Add(other ref.Val) ref.Val {
	o, ok := other.(traits.Lister)
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	set, err := setOf(s)
	if err != nil {
		return err
	}
	elements, more := slices.Clip(s.elements), natives(o)
	for i, it := 0, o.Iterator(); it.HasNext() == types.True; i++ {
		key, err := setKey(it.Next())
		if err != nil {
			return err
		}
		if !set[key] {
			set[key] = true
			elements = append(elements, more[i])
		}
	}
	return &setList{&list{elements, s.schema}}
}

// A mapList is an unordered list of objects identified by keys (x-kubernetes-list-type: map).
type mapList struct {
	*list
	keys []string
}

// keyOf returns the key of an element. Combined keys include the type of each value, so that 1 and
// "1" differ.
func (m *mapList) keyOf(element any) any {
	t, ok := asTree(element)
	if !ok {
		return fmt.Sprintf("%T", element)
	}
	if len(m.keys) == 1 {
		return asKey(t[m.keys[0]])
	}
	key := make([]any, len(m.keys))
	for i, name := range m.keys {
		key[i] = t[name]
	}
	return fmt.Sprintf("%#v", key)
}

// positions returns the position of each key. If several elements have the same key, which
// validation normally rejects, the last one wins.
func (m *mapList) positions() map[any]int {
	at := make(map[any]int, len(m.elements))
	for i, e := range m.elements {
		at[m.keyOf(e)] = i
	}
	return at
}

// Equal reports whether the elements are equal, in any order.
func (m *mapList) Equal(other ref.Val) ref.Val {
	o, ok := other.(traits.Lister)
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	if m.Size() != o.Size() {
		return types.False
	}
	at, seen := m.positions(), map[int]bool{}
	for it := o.Iterator(); it.HasNext() == types.True; {
		v := it.Next()
		i, found := at[m.keyOf(v.Value())]
		if !found {
			return types.False
		}
		if equal := m.at(i).Equal(v); equal != types.True {
			return equal
		}
		seen[i] = true
	}
	return types.Bool(len(seen) == len(at))
}

// Add replaces elements with the same keys and appends all other elements.
func (m *mapList) Add(other ref.Val) ref.Val {
	o, ok := other.(traits.Lister)
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	elements, at := slices.Clone(m.elements), m.positions()
	for _, e := range natives(o) {
		key := m.keyOf(e)
		if i, found := at[key]; found {
			elements[i] = e
		} else {
			elements = append(elements, e)
		}
	}
	return &mapList{&list{elements, m.schema}, m.keys}
}

func asKey(v any) any {
	switch v.(type) {
	case tree.Tree, map[string]any, []any, []byte:
		return fmt.Sprintf("%T", v)
	}
	if v != nil && !reflect.TypeOf(v).Comparable() {
		return fmt.Sprintf("%T", v)
	}
	return v
}
