package podsecurity

import (
	"errors"
	"strconv"
	"strings"
)

// A Version selects the minor version of the checks. The zero Version is "latest", which follows
// server upgrades; a pinned one is stable across them.
type Version struct {
	minor  int
	pinned bool // false for latest
}

// newestMinor is the minor version of this server. Later versions count as latest.
const newestMinor = 35

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

// ParseVersion parses a version. It returns the latest with an error for invalid text. It rejects
// "v1.05", so that each version has one spelling.
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
