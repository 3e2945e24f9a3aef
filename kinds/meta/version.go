package meta

import (
	"cmp"
	"strconv"
	"strings"
)

// CompareVersions orders versions by preference: v2, v1, v1beta2, v1beta1, v1alpha1, then all other
// names in lexical order.
func CompareVersions(a, b string) int {
	x, okX := parseVersion(a)
	y, okY := parseVersion(b)
	switch {
	case okX && okY:
		return cmp.Or(cmp.Compare(y.stability, x.stability), cmp.Compare(y.major, x.major), cmp.Compare(y.minor, x.minor))
	case okX:
		return -1
	case okY:
		return 1
	}
	return strings.Compare(a, b)
}

type version struct{ stability, major, minor int }

// Stability returns "alpha", "beta" or "ga", or "" if the name does not follow the Kubernetes
// convention.
func Stability(s string) string {
	v, ok := parseVersion(s)
	if !ok {
		return ""
	}
	return [...]string{"alpha", "beta", "ga"}[v.stability]
}

func parseVersion(s string) (version, bool) {
	rest, ok := strings.CutPrefix(s, "v")
	if !ok {
		return version{}, false
	}
	v := version{stability: 2}
	for stability, word := range []string{"alpha", "beta"} {
		major, minor, found := strings.Cut(rest, word)
		if !found {
			continue
		}
		n, err := strconv.Atoi(minor)
		if err != nil || n < 1 {
			return version{}, false
		}
		rest, v.minor, v.stability = major, n, stability
	}
	major, err := strconv.Atoi(rest)
	v.major = major
	return v, err == nil && major > 0
}
