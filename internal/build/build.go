// Package build describes the build of the running program.
package build

import (
	"runtime/debug"
	"strings"
)

const module = "github.com/troupe-api/troupe"

// development is the version of builds that are not of a release.
const development = "0.3.0-dev"

// Version returns the version of the module without "v", such as "0.3.0", if the program was built
// from a release: from a clean checkout of its tag, or as a module of that version.
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
	// A local directory has no version, or "(devel)". The version of a commit without a tag has two
	// hyphens, before its time and its hash. That of a modified checkout ends with "+dirty".
	if m.Path != module || m.Replace != nil || !strings.HasPrefix(m.Version, "v") || strings.Count(m.Version, "-") > 1 || strings.Contains(m.Version, "+") {
		return development
	}
	return m.Version[1:]
}

// noDate is the date if the actual date is unknown. Clients parse the date, so it must be valid.
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
