package cel

import (
	"fmt"
	"reflect"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// extensionPrefix begins the names of extensions of schemas, which faults mention.
const extensionPrefix = "x-platform-"

// platformTypes are types whose names differ between profiles. One with a point at its end stands for all
// types that begin with it.
var platformTypes = []string{
	"platform.URL", "platform.Quantity", "platform.Semver", "platform.NamedFormat", "platform.authorization.", "platform.variables",
	"platform.AdmissionRequest", "platform.GroupVersionKind", "platform.GroupVersionResource", "platform.UserInfo",
	"platform.Namespace",
}

// An opaque is a value of one of the libraries: its type, and what it holds. It has only functions, no
// parts. One generic type replaces the dozen that differ only in what they hold. equal and text are
// functions rather than methods of T because T is often a type of another package.
type opaque[T any] struct {
	kind  *types.Type
	name  string // as conversion faults call it
	value T
	equal func(a, b T) bool
	text  func(T) string // nil: it has none
}

// ConvertToNative implements ref.Val.
func (o opaque[T]) ConvertToNative(t reflect.Type) (any, error) {
	if reflect.TypeOf(o.value).AssignableTo(t) {
		return o.value, nil
	}
	if o.text != nil && reflect.TypeOf("").AssignableTo(t) {
		return o.text(o.value), nil
	}
	return nil, fmt.Errorf("type conversion error from '%s' to '%v'", o.name, t)
}

// ConvertToType implements ref.Val.
func (o opaque[T]) ConvertToType(t ref.Type) ref.Val {
	switch {
	case t.TypeName() == o.kind.TypeName():
		return o
	case t == types.TypeType:
		return o.kind
	}
	return types.NewErr("type conversion error from '%s' to '%s'", o.kind, t)
}

// Equal implements ref.Val.
func (o opaque[T]) Equal(other ref.Val) ref.Val {
	second, ok := other.(opaque[T])
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	return types.Bool(o.equal(o.value, second.value))
}

// Type implements ref.Val.
func (o opaque[T]) Type() ref.Type { return o.kind }

// Value implements ref.Val.
func (o opaque[T]) Value() any { return o.value }

// held is what a value of a library holds. It fails for errors and unknowns, which callers pass on
// (MaybeNoSuchOverloadErr), and for dynamic values of another type.
func held[T any](v ref.Val) (T, bool) {
	value, ok := v.Value().(T)
	return value, ok
}

// unary makes the binding of a function of one argument. Checks of types that the compiler could not make,
// for dynamic arguments, are made here once for all functions.
func unary[A any](call func(a A) ref.Val) func(ref.Val) ref.Val {
	return func(v ref.Val) ref.Val {
		a, ok := held[A](v)
		if !ok {
			return types.MaybeNoSuchOverloadErr(v)
		}
		return call(a)
	}
}

// binary makes the binding of a function of two arguments.
func binary[A, B any](call func(a A, b B) ref.Val) func(x, y ref.Val) ref.Val {
	return func(x, y ref.Val) ref.Val {
		a, ok := held[A](x)
		if !ok {
			return types.MaybeNoSuchOverloadErr(x)
		}
		b, ok := held[B](y)
		if !ok {
			return types.MaybeNoSuchOverloadErr(y)
		}
		return call(a, b)
	}
}
