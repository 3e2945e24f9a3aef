package cel

import (
	"net/netip"
	"net/url"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
)

type binding struct {
	args   []*cel.Type
	result *cel.Type
	call   cel.OverloadOpt
}

// function declares one overload of a function. Overload IDs match kube-apiserver's, because errors
// and costs contain them.
func function(name, id string, b binding) cel.EnvOption {
	return cel.Function(name, cel.Overload(id, b.args, b.result, b.call))
}

func method(name, id string, b binding) cel.EnvOption {
	return cel.Function(name, cel.MemberOverload(id, b.args, b.result, b.call))
}

func unary[A, R any](call func(A) R) binding {
	return tryUnary(func(a A) (R, error) { return call(a), nil })
}

func binary[A, B, R any](call func(A, B) R) binding {
	return tryBinary(func(a A, b B) (R, error) { return call(a, b), nil })
}

func tryUnary[A, R any](call func(A) (R, error)) binding {
	return binding{[]*cel.Type{celTypeOf[A]()}, celTypeOf[R](), cel.UnaryBinding(func(v ref.Val) ref.Val {
		a, ok := held[A](v)
		if !ok {
			return types.MaybeNoSuchOverloadErr(v)
		}
		return valueOrErr(call(a))
	})}
}

func tryBinary[A, B, R any](call func(A, B) (R, error)) binding {
	return binding{[]*cel.Type{celTypeOf[A](), celTypeOf[B]()}, celTypeOf[R](), cel.BinaryBinding(func(x, y ref.Val) ref.Val {
		a, ok := held[A](x)
		if !ok {
			return types.MaybeNoSuchOverloadErr(x)
		}
		b, ok := held[B](y)
		if !ok {
			return types.MaybeNoSuchOverloadErr(y)
		}
		return valueOrErr(call(a, b))
	})}
}

func succeeds[R any](call func(string) (R, error)) binding {
	return unary(func(s string) bool {
		_, err := call(s)
		return err == nil
	})
}

func celTypeOf[T any]() *cel.Type {
	var zero T
	switch any(zero).(type) {
	case bool:
		return cel.BoolType
	case string:
		return cel.StringType
	case float64:
		return cel.DoubleType
	case map[string][]string:
		return cel.MapType(cel.StringType, cel.ListType(cel.StringType))
	case netip.Addr:
		return ipType
	case netip.Prefix:
		return cidrType
	case amount:
		return quantityType
	case version:
		return semverType
	case *url.URL:
		return urlType
	case optional[[]string]:
		return cel.OptionalType(cel.ListType(cel.StringType))
	case optional[*format]:
		return cel.OptionalType(formatType)
	case *format:
		return formatType
	case authorization:
		return authorizerType
	case pathCheck:
		return pathCheckType
	case groupCheck:
		return groupCheckType
	case resourceCheck:
		return resourceCheckType
	case decision:
		return decisionType
	}
	return cel.IntType
}

func valueOrErr(v any, err error) ref.Val {
	if err != nil {
		return types.WrapErr(err)
	}
	switch v := v.(type) {
	case map[string][]string:
		values := map[ref.Val]ref.Val{}
		for name, texts := range v {
			values[types.String(name)] = types.NewStringList(types.DefaultTypeAdapter, texts)
		}
		return types.NewRefValMap(types.DefaultTypeAdapter, values)
	case netip.Addr:
		return sized[netip.Addr]{opaque[netip.Addr]{ipType, "IP", v, same[netip.Addr], netip.Addr.String}, bytesOf(v.BitLen())}
	case netip.Prefix: // as in kube-apiserver, its size is the prefix length in bytes
		return sized[netip.Prefix]{opaque[netip.Prefix]{cidrType, "CIDR", v, same[netip.Prefix], netip.Prefix.String}, bytesOf(v.Bits())}
	case amount:
		return opaque[amount]{quantityType, "Quantity", v, func(a, b amount) bool { return a.Cmp(b.Quantity) == 0 }, amount.String}
	case version:
		return opaque[version]{semverType, "Semver", v, func(a, b version) bool { return a.compare(b) == 0 }, version.String}
	case *url.URL:
		return opaque[*url.URL]{urlType, "URL", v, func(a, b *url.URL) bool { return a.String() == b.String() }, (*url.URL).String}
	case optional[[]string]:
		return v.toCEL()
	case optional[*format]:
		return v.toCEL()
	case *format:
		return opaque[*format]{formatType, "Format", v, same[*format], nil}
	case authorization:
		return receiver(v)
	case pathCheck:
		return receiver(v)
	case groupCheck:
		return receiver(v)
	case resourceCheck:
		return receiver(v)
	case decision:
		return receiver(v)
	}
	return types.DefaultTypeAdapter.NativeToValue(v)
}

type optional[T any] struct {
	value T
	ok    bool
}

func (o optional[T]) toCEL() ref.Val {
	if !o.ok {
		return types.OptionalNone
	}
	return types.OptionalOf(valueOrErr(o.value, nil))
}

func same[T comparable](a, b T) bool { return a == b }

// receiver returns a value that supports only function calls. As in kube-apiserver, receivers are
// never equal.
func receiver[T any](v T) ref.Val {
	t := celTypeOf[T]()
	return opaque[T]{t, t.TypeName(), v, func(T, T) bool { return false }, nil}
}
