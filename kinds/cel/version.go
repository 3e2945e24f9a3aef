package cel

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

type version struct {
	major, minor, patch uint64
	pre                 []prerelease
	build               []string
}

type versionFault string

func (f versionFault) Error() string { return string(f) }

// A prerelease is one identifier of a pre-release version, either a number or a string.
type prerelease struct {
	text      string
	number    uint64
	isNumeric bool
}

func parseVersion(s string) (v version, err error) {
	if s == "" {
		return v, versionFault("Version string empty")
	}
	parts := strings.SplitN(s, ".", 3)
	if len(parts) != 3 {
		return v, versionFault("No Major.Minor.Patch elements found")
	}
	if v.major, err = versionNumber("Major", "major", parts[0]); err != nil {
		return v, err
	}
	if v.minor, err = versionNumber("Minor", "minor", parts[1]); err != nil {
		return v, err
	}
	rest, build, hasBuild := strings.Cut(parts[2], "+")
	rest, pre, hasPre := strings.Cut(rest, "-")
	if v.patch, err = versionNumber("Patch", "patch", rest); err != nil {
		return v, err
	}
	if hasPre {
		for _, part := range strings.Split(pre, ".") {
			p, err := parsePrerelease(part)
			if err != nil {
				return v, err
			}
			v.pre = append(v.pre, p)
		}
	}
	if hasBuild {
		v.build = strings.Split(build, ".")
		for _, part := range v.build {
			if part == "" {
				return v, versionFault("Build meta data is empty")
			}
			if !isAlphanumeric(part) {
				return v, versionFault(fmt.Sprintf("Invalid character(s) found in build meta data %q", part))
			}
		}
	}
	return v, nil
}

func versionNumber(title, name, s string) (uint64, error) {
	if !isNumber(s) {
		return 0, versionFault(fmt.Sprintf("Invalid character(s) found in %s number %q", name, s))
	}
	if len(s) > 1 && s[0] == '0' {
		return 0, versionFault(fmt.Sprintf("%s number must not contain leading zeroes %q", title, s))
	}
	return strconv.ParseUint(s, 10, 64)
}

func parsePrerelease(s string) (p prerelease, err error) {
	switch {
	case s == "":
		return p, versionFault("Prerelease is empty")
	case isNumber(s):
		if len(s) > 1 && s[0] == '0' {
			return p, versionFault(fmt.Sprintf("Numeric PreRelease version must not contain leading zeroes %q", s))
		}
		p.isNumeric = true
		p.number, err = strconv.ParseUint(s, 10, 64)
		return p, err
	case isAlphanumeric(s):
		return prerelease{text: s}, nil
	}
	return p, versionFault(fmt.Sprintf("Invalid character(s) found in prerelease %q", s))
}

func isAlphanumeric(s string) bool {
	return strings.IndexFunc(s, func(c rune) bool {
		return !(isDigit(c) || c == '-' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z')
	}) < 0
}

// parseNormalized parses a version that may start with v, have leading zeros, or lack minor and
// patch numbers.
func parseNormalized(s string) (version, error) {
	parts := strings.SplitN(strings.TrimPrefix(s, "v"), ".", 3)
	for i, part := range parts {
		if len(part) > 1 {
			if part = strings.TrimLeft(part, "0"); part == "" || !isDigit(rune(part[0])) {
				part = "0" + part
			}
			parts[i] = part
		}
	}
	if len(parts) < 3 && strings.ContainsAny(parts[len(parts)-1], "+-") {
		return version{}, errors.New("short version cannot contain PreRelease/Build meta data")
	}
	for len(parts) < 3 {
		parts = append(parts, "0")
	}
	return parseVersion(strings.Join(parts, "."))
}

// compare returns -1, 0 or 1 and ignores build metadata.
func (v version) compare(o version) int {
	if c := cmp.Or(cmp.Compare(v.major, o.major), cmp.Compare(v.minor, o.minor), cmp.Compare(v.patch, o.patch)); c != 0 {
		return c
	}
	switch {
	case len(v.pre) == 0 || len(o.pre) == 0: // a release follows its pre-releases
		return cmp.Compare(min(len(o.pre), 1), min(len(v.pre), 1))
	}
	return slices.CompareFunc(v.pre, o.pre, prerelease.compare)
}

// compare orders numbers before strings, as Semantic Versioning requires.
func (p prerelease) compare(o prerelease) int {
	switch {
	case p.isNumeric && !o.isNumeric:
		return -1
	case !p.isNumeric && o.isNumeric:
		return 1
	}
	return cmp.Or(cmp.Compare(p.number, o.number), cmp.Compare(p.text, o.text))
}

func (v version) String() string {
	text := fmt.Sprintf("%d.%d.%d", v.major, v.minor, v.patch)
	separator := "-"
	for _, p := range v.pre {
		text += separator + p.text
		if p.isNumeric {
			text += strconv.FormatUint(p.number, 10)
		}
		separator = "."
	}
	if len(v.build) > 0 {
		text += "+" + strings.Join(v.build, ".")
	}
	return text
}

func isNumber(s string) bool {
	_, rest := cutDigits(s)
	return rest == ""
}
