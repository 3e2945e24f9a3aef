package cel

import (
	"fmt"
	"reflect"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
)

const extensionPrefix = "x-platform-"

// platformTypes lists the type names that depend on the naming profile. A name with a final dot
// represents all types with that prefix.
var platformTypes = []string{
	"platform.URL", "platform.Quantity", "platform.Semver", "platform.NamedFormat", "platform.authorization.", "platform.variables",
	"platform.AdmissionRequest", "platform.GroupVersionKind", "platform.GroupVersionResource", "platform.UserInfo",
	"platform.Namespace",
}

// An opaque is a value that supports only function calls. Equality and formatting are fields,
// because T often belongs to another package.
type opaque[T any] struct {
	kind  *types.Type
	name  string // name in conversion errors
	value T
	equal func(a, b T) bool
	text  func(T) string // nil if it cannot be converted to a string
}

func (o opaque[T]) ConvertToNative(t reflect.Type) (any, error) {
	if reflect.TypeOf(o.value).AssignableTo(t) {
		return o.value, nil
	}
	if o.text != nil && reflect.TypeOf("").AssignableTo(t) {
		return o.text(o.value), nil
	}
	return nil, fmt.Errorf("type conversion error from '%s' to '%v'", o.name, t)
}

func (o opaque[T]) ConvertToType(t ref.Type) ref.Val {
	switch {
	case t.TypeName() == o.kind.TypeName():
		return o
	case t == types.TypeType:
		return o.kind
	}
	return types.NewErr("type conversion error from '%s' to '%s'", o.kind, t)
}

func (o opaque[T]) Equal(other ref.Val) ref.Val {
	second, ok := other.(opaque[T])
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	return types.Bool(o.equal(o.value, second.value))
}

func (o opaque[T]) Type() ref.Type { return o.kind }

func (o opaque[T]) Value() any { return o.value }

// held returns the Go value of v. It returns false for types other than T, errors and unknowns, for
// which callers return MaybeNoSuchOverloadErr(v).
func held[T any](v ref.Val) (T, bool) {
	value, ok := v.Value().(T)
	return value, ok
}
