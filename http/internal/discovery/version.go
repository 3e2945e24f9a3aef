package discovery

import (
	"encoding/json"
	"runtime"
	"runtime/debug"
)

// The Kubernetes version whose API is served, and the oldest minor version that clients and
// controllers may rely on.
const (
	apiMajor              = "1"
	apiMinor              = "37"
	kubeVersion           = "v" + apiMajor + "." + apiMinor + ".2"
	minCompatibilityMinor = "36"
)

// GitVersion returns the gitVersion for clients. It combines the Kubernetes version and own, the
// daemon's version.
func GitVersion(own string) string {
	if own == "" {
		own = "0.0.0"
	}
	return kubeVersion + "+troupe." + own
}

// Version returns the document at /version. Clients require a semantic gitVersion.
func Version(gitVersion string) []byte {
	commit, date, tree := buildInfo()
	b, err := json.MarshalIndent(struct {
		Major                 string `json:"major"`
		Minor                 string `json:"minor"`
		EmulationMajor        string `json:"emulationMajor"`
		EmulationMinor        string `json:"emulationMinor"`
		MinCompatibilityMajor string `json:"minCompatibilityMajor"`
		MinCompatibilityMinor string `json:"minCompatibilityMinor"`
		GitVersion            string `json:"gitVersion"`
		GitCommit             string `json:"gitCommit"`
		GitTreeState          string `json:"gitTreeState"`
		BuildDate             string `json:"buildDate"`
		GoVersion             string `json:"goVersion"`
		Compiler              string `json:"compiler"`
		Platform              string `json:"platform"`
	}{
		apiMajor, apiMinor, apiMajor, apiMinor, apiMajor, minCompatibilityMinor, gitVersion,
		commit, tree, date, runtime.Version(), runtime.Compiler, runtime.GOOS + "/" + runtime.GOARCH,
	}, "", "  ")
	if err != nil {
		panic(err)
	}
	return b
}

// noDate is the build date if the actual date is unknown. Clients parse the date, so it must be
// valid.
const noDate = "1970-01-01T00:00:00Z"

func buildInfo() (commit, date, tree string) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "", noDate, ""
	}
	date, tree = noDate, "clean"
	// commit is empty in builds from source archives. Clients only display the commit.
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
