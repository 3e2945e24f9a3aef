package cel

import (
	"fmt"
	"reflect"
	"slices"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
)

// A Lazy is an object whose fields are computed on first use, such as policy variables that refer
// to earlier ones. Results and errors are cached, so that each field is computed and charged only
// once. A Lazy is not safe for concurrent use.
type Lazy struct {
	kind  *types.Type
	names []string
	make  func(field string) Value
	made  map[string]ref.Val
}

// NewLazy returns a lazy value of a type created by ObjectOf. make computes the value of a
// field, which may be a Fault. Fields are iterated in name order.
func NewLazy(t *Type, make func(field string) Value) *Lazy {
	l := &Lazy{kind: types.NewObjectType(t.cel.TypeName(), traits.IndexerType|traits.FieldTesterType|traits.IterableType), make: make, made: map[string]ref.Val{}}
	for name := range t.fields {
		l.names = append(l.names, name)
	}
	slices.Sort(l.names)
	return l
}

// Find returns the value of a field. It normalizes the name, so that all spellings share a result.
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

func (l *Lazy) Get(key ref.Val) ref.Val {
	if v, found := l.Find(key); found {
		return v
	}
	return types.ValOrErr(key, "no such key: %v", key)
}

// Contains evaluates the variable. As in kube-apiserver, has(variables.x) fails if x fails.
func (l *Lazy) Contains(key ref.Val) ref.Val {
	v, found := l.Find(key)
	if v != nil && types.IsUnknownOrError(v) {
		return v
	}
	return types.Bool(found)
}

func (l *Lazy) Iterator() traits.Iterator {
	var names []ref.Val
	for _, name := range l.names {
		names = append(names, types.String(name))
	}
	return &iterator{values: names}
}

func (l *Lazy) Size() ref.Val { return types.Int(len(l.names)) }

func (l *Lazy) ConvertToNative(t reflect.Type) (any, error) {
	return nil, fmt.Errorf("disallowed conversion from %q to %q", l.kind.TypeName(), t.Name())
}

func (l *Lazy) ConvertToType(t ref.Type) ref.Val {
	switch {
	case t.TypeName() == l.kind.TypeName():
		return l
	case t == types.TypeType:
		return l.kind
	}
	return types.NewErr("disallowed conversion from %q to %q", l.kind.TypeName(), t.TypeName())
}

// Equal compares identity, because comparing fields would evaluate all of them.
func (l *Lazy) Equal(other ref.Val) ref.Val {
	o, ok := other.(*Lazy)
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	return types.Bool(o == l)
}

func (l *Lazy) Type() ref.Type { return l.kind }

func (l *Lazy) Value() any { return types.NoSuchOverloadErr() }
