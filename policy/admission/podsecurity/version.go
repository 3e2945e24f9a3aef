package podsecurity

import (
	"errors"
	"strconv"
	"strings"
)

// Version selects the minor version of the checks. The zero Version is "latest", which changes with
// server upgrades, unlike a pinned version.
type Version struct {
	minor  int
	pinned bool // false for latest
}

// newestMinor is the newest minor version with checks. Later versions count as latest.
const newestMinor = 37

// MinorVersion returns the version v1.<minor>.
func MinorVersion(minor int) Version { return Version{minor: minor, pinned: true} }

// String returns "latest" or "v1.<minor>".
func (v Version) String() string {
	if !v.pinned {
		return "latest"
	}
	return "v1." + strconv.Itoa(v.minor)
}

func (v Version) checks() int {
	if !v.pinned {
		return newestMinor
	}
	return min(v.minor, newestMinor)
}

var errVersion = errors.New(`must be "latest" or "v1.x"`)

// ParseVersion parses a version such as "latest" or "v1.25". It returns the latest version and an
// error for invalid text. It rejects "v1.05", so that each version has only one spelling.
func ParseVersion(s string) (Version, error) {
	if s == "latest" {
		return Version{}, nil
	}
	digits, ok := strings.CutPrefix(s, "v1.")
	minor, err := strconv.Atoi(digits)
	if !ok || err != nil || strconv.Itoa(minor) != digits || minor < 0 {
		return Version{}, errVersion
	}
	return MinorVersion(minor), nil
}
