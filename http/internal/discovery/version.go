package discovery

import (
	"encoding/json"
	"runtime"
	"runtime/debug"
)

// The version of the conventions that the server follows.
const (
	apiMajor = "1"
	apiMinor = "35"
)

// GitVersion returns the semantic version that clients see, for the daemon's own version.
func GitVersion(own string) string {
	if own == "" {
		own = "0.0.0"
	}
	return "v" + apiMajor + "." + apiMinor + ".0+troupe." + own
}

// Version is the document at /version. Clients insist on a semantic version in
// gitVersion; own is the daemon's version, as in "0.1.0".
func Version(own string) []byte {
	commit, date, tree := buildInfo()
	b, err := json.Marshal(struct {
		Major        string `json:"major"`
		Minor        string `json:"minor"`
		GitVersion   string `json:"gitVersion"`
		GitCommit    string `json:"gitCommit"`
		GitTreeState string `json:"gitTreeState"`
		BuildDate    string `json:"buildDate"`
		GoVersion    string `json:"goVersion"`
		Compiler     string `json:"compiler"`
		Platform     string `json:"platform"`
	}{
		apiMajor, apiMinor, GitVersion(own),
		commit, tree, date, runtime.Version(), runtime.Compiler, runtime.GOOS + "/" + runtime.GOARCH,
	})
	if err != nil {
		panic(err)
	}
	return b
}

// buildInfo is what the build has recorded about its sources.
func buildInfo() (commit, date, tree string) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "", "", ""
	}
	tree = "clean"
	// What is not there, as in a build from an archive, stays empty: clients show it and need nothing of it.
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			commit = s.Value
		case "vcs.time":
			date = s.Value
		case "vcs.modified":
			if s.Value == "true" {
				tree = "dirty"
			}
		}
	}
	return commit, date, tree
}
