package cel

import (
	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
)

var semverType = cel.ObjectType("platform.Semver")

// semverFunctions declares semver, isSemver, and the functions of versions. The optional second
// argument of semver and isSemver allows unnormalized versions such as "v1.2".
func semverFunctions() []cel.EnvOption {
	texts, normalized := []*cel.Type{cel.StringType}, []*cel.Type{cel.StringType, cel.BoolType}
	one, two := []*cel.Type{semverType}, []*cel.Type{semverType, semverType}
	is := func(parse func(string) (version, error)) func(string) ref.Val {
		return func(s string) ref.Val {
			_, err := parse(s)
			return types.Bool(err == nil)
		}
	}
	option := func(call func(parse func(string) (version, error)) func(string) ref.Val) cel.OverloadOpt {
		return cel.BinaryBinding(binary(func(s string, normalize bool) ref.Val {
			if normalize {
				return call(parseNormalized)(s)
			}
			return call(parseVersion)(s)
		}))
	}
	options := []cel.EnvOption{
		cel.Function("semver",
			cel.Overload("string_to_semver", texts, semverType, cel.UnaryBinding(unary(newVersion(parseVersion)))),
			cel.Overload("string_bool_to_semver", normalized, semverType, option(newVersion))),
		cel.Function("isSemver",
			cel.Overload("is_semver_string", texts, cel.BoolType, cel.UnaryBinding(unary(is(parseVersion)))),
			cel.Overload("is_semver_string_bool", normalized, cel.BoolType, option(is))),
		cel.Function("isGreaterThan", cel.MemberOverload("semver_is_greater_than", two, cel.BoolType, cel.BinaryBinding(binary(func(a, b version) ref.Val {
			return types.Bool(a.compare(b) > 0)
		})))),
		cel.Function("isLessThan", cel.MemberOverload("semver_is_less_than", two, cel.BoolType, cel.BinaryBinding(binary(func(a, b version) ref.Val {
			return types.Bool(a.compare(b) < 0)
		})))),
		cel.Function("compareTo", cel.MemberOverload("semver_compare_to", two, cel.IntType, cel.BinaryBinding(binary(func(a, b version) ref.Val {
			return types.Int(a.compare(b))
		})))),
	}
	for name, part := range map[string]func(version) uint64{
		"major": func(v version) uint64 { return v.major }, "minor": func(v version) uint64 { return v.minor },
		"patch": func(v version) uint64 { return v.patch },
	} {
		options = append(options, cel.Function(name, cel.MemberOverload("semver_"+name, one, cel.IntType,
			cel.UnaryBinding(unary(func(v version) ref.Val { return types.Int(part(v)) })))))
	}
	return options
}

func newVersion(parse func(string) (version, error)) func(string) ref.Val {
	same := func(a, b version) bool { return a.compare(b) == 0 }
	return func(s string) ref.Val {
		v, err := parse(s)
		if err != nil {
			return types.WrapErr(err)
		}
		return opaque[version]{semverType, "Semver", v, same, version.String}
	}
}
