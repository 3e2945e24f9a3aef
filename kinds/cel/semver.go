package cel

import "cel.dev/cel-go/cel"

var semverType = cel.ObjectType("platform.Semver")

// semverFunctions declares semver, isSemver, and the functions of versions. The optional second
// argument of semver and isSemver allows unnormalized versions such as "v1.2".
func semverFunctions() []cel.EnvOption {
	parse := func(s string, normalize bool) (version, error) {
		if normalize {
			return parseNormalized(s)
		}
		return parseVersion(s)
	}
	return []cel.EnvOption{
		function("semver", "string_to_semver", tryUnary(parseVersion)),
		function("semver", "string_bool_to_semver", tryBinary(parse)),
		function("isSemver", "is_semver_string", succeeds(parseVersion)),
		function("isSemver", "is_semver_string_bool", binary(func(s string, normalize bool) bool {
			_, err := parse(s, normalize)
			return err == nil
		})),
		method("isGreaterThan", "semver_is_greater_than", binary(func(a, b version) bool { return a.compare(b) > 0 })),
		method("isLessThan", "semver_is_less_than", binary(func(a, b version) bool { return a.compare(b) < 0 })),
		method("compareTo", "semver_compare_to", binary(version.compare)),
		method("major", "semver_major", unary(func(v version) int64 { return int64(v.major) })),
		method("minor", "semver_minor", unary(func(v version) int64 { return int64(v.minor) })),
		method("patch", "semver_patch", unary(func(v version) int64 { return int64(v.patch) })),
	}
}
