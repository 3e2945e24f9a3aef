package podsecurity

import (
	"errors"
	"strconv"
	"strings"
)

// A Version says as of which minor version of the API the checks are. The zero Version is the latest one.
// "latest" follows the server through its updates; a pinned version keeps a namespace working through them.
type Version struct {
	minor  int
	pinned bool // false for the latest
}

// newestMinor is the minor version of this server. Later versions count as the latest.
const newestMinor = 35

// MinorVersion is the version v1.<minor>.
func MinorVersion(minor int) Version { return Version{minor: minor, pinned: true} }

// String is "latest", or "v1." with the minor version.
func (v Version) String() string {
	if !v.pinned {
		return "latest"
	}
	return "v1." + strconv.Itoa(v.minor)
}

// checks is the minor version whose checks count.
func (v Version) checks() int {
	if !v.pinned {
		return newestMinor
	}
	return min(v.minor, newestMinor)
}

var errVersion = errors.New(`must be "latest" or "v1.x"`)

// ParseVersion reads a version. What is none reads as the latest, with an error. "v1.05" is refused, so
// that each version has one text.
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
