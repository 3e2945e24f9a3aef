package cel

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// A Lazy is an object whose fields are made when expressions first look at them, as the variables of a
// policy. It belongs to one evaluation after the other. A variable may be costly and unused, and may refer
// to those before it; made holds each one that was needed, also a Fault, so that it is computed and paid
// for once.
type Lazy struct {
	kind  *types.Type
	names []string
	make  func(field string) Value
	made  map[string]ref.Val
}

// NewLazy makes a lazy value of a type made by ObjectOf. make makes a field; it returns a Fault if it
// cannot. The names are sorted, so that iterating gives the same order each time.
func NewLazy(t *Type, make func(field string) Value) *Lazy {
	l := &Lazy{kind: types.NewObjectType(t.cel.TypeName(), traits.IndexerType|traits.FieldTesterType|traits.IterableType), make: make, made: map[string]ref.Val{}}
	for name := range t.fields {
		l.names = append(l.names, name)
	}
	slices.Sort(l.names)
	return l
}

// Find implements traits.Mapper. Names are unescaped and escaped again, because several spellings of one
// variable must share its entry.
func (l *Lazy) Find(key ref.Val) (ref.Val, bool) {
	text, ok := key.(types.String)
	if !ok {
		return types.MaybeNoSuchOverloadErr(key), true
	}
	escaped, name := string(text), ""
	if name, ok = unescape(escaped); !ok {
		return nil, false
	}
	if escaped, ok = Escape(name); !ok || !slices.Contains(l.names, escaped) {
		return nil, false
	}
	v, known := l.made[name]
	if !known {
		v = l.make(name)
		l.made[name] = v
	}
	return v, true
}

// Get implements traits.Indexer.
func (l *Lazy) Get(key ref.Val) ref.Val {
	if v, found := l.Find(key); found {
		return v
	}
	return types.ValOrErr(key, "no such key: %v", key)
}

// Contains implements traits.Container. has(variables.x) evaluates the variable, as in the public API: its
// fault is that of the test.
func (l *Lazy) Contains(key ref.Val) ref.Val {
	v, found := l.Find(key)
	if v != nil && types.IsUnknownOrError(v) {
		return v
	}
	return types.Bool(found)
}

// Iterator implements traits.Iterable.
func (l *Lazy) Iterator() traits.Iterator {
	var names []ref.Val
	for _, name := range l.names {
		names = append(names, types.String(name))
	}
	return &iterator{values: names}
}

// Size implements traits.Sizer.
func (l *Lazy) Size() ref.Val { return types.Int(len(l.names)) }

// ConvertToNative implements ref.Val.
func (l *Lazy) ConvertToNative(t reflect.Type) (any, error) {
	return nil, fmt.Errorf("disallowed conversion from %q to %q", l.kind.TypeName(), t.Name())
}

// ConvertToType implements ref.Val.
func (l *Lazy) ConvertToType(t ref.Type) ref.Val {
	switch {
	case t.TypeName() == l.kind.TypeName():
		return l
	case t == types.TypeType:
		return l.kind
	}
	return types.NewErr("disallowed conversion from %q to %q", l.kind.TypeName(), t.TypeName())
}

// Equal implements ref.Val. Two of them are equal only if they are the same: comparing would evaluate
// everything.
func (l *Lazy) Equal(other ref.Val) ref.Val {
	o, ok := other.(*Lazy)
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	return types.Bool(o == l)
}

// Type implements ref.Val.
func (l *Lazy) Type() ref.Type { return l.kind }

// Value implements ref.Val.
func (l *Lazy) Value() any { return types.NoSuchOverloadErr() }
