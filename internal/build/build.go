// Package build describes the build of the running program.
package build

import (
	"runtime/debug"
	"strings"
)

const module = "github.com/troupe-api/troupe"

// development is the version of builds that are not releases.
const development = "0.3.0-dev"

// Version returns the release that the program was built from, without "v", such as "0.3.0". Builds
// from other or modified checkouts return development.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return development
	}
	return version(info)
}

func version(info *debug.BuildInfo) string {
	m := &info.Main
	for _, d := range info.Deps {
		if d.Path == module {
			m = d
		}
	}
	// Builds of a local directory have the version "" or "(devel)". A commit without a tag has a
	// pseudo-version with two hyphens. A modified checkout adds "+dirty".
	if m.Path != module || m.Replace != nil || !strings.HasPrefix(m.Version, "v") || strings.Count(m.Version, "-") > 1 || strings.Contains(m.Version, "+") {
		return development
	}
	return m.Version[1:]
}

// noDate replaces an unknown commit date. Clients parse the date, so it must be valid.
const noDate = "1970-01-01T00:00:00Z"

// Commit returns the hash and the date of the commit that the program was built from, and the state
// of the checkout: "clean" or "dirty". The hash is empty in builds from source archives.
func Commit() (hash, date, state string) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "", noDate, ""
	}
	date, state = noDate, "clean"
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			hash = s.Value
		case "vcs.time":
			date = s.Value
		case "vcs.modified":
			if s.Value == "true" {
				state = "dirty"
			}
		}
	}
	return hash, date, state
}
