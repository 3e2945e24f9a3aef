package discovery

import (
	"encoding/json"
	"runtime"

	"github.com/troupe-api/troupe/internal/build"
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
	commit, date, tree := build.Commit()
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
