package envtest

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
)

// A reportedVersion is the value of --version. "true" and "raw" print the version. Any other value
// overrides the version in the /version response.
type reportedVersion string

func (v *reportedVersion) String() string { return string(*v) }

func (v *reportedVersion) Type() string { return "string" }

// Set accepts the same values as kube-apiserver. The major, minor and patch versions must be the
// daemon's, because --version does not change its behavior.
func (v *reportedVersion) Set(s string) error {
	own := daemon.GitVersion()
	core, _, _ := strings.Cut(own, "+")
	switch suffix, matches := strings.CutPrefix(s, core); {
	case s == "raw", matches && (suffix == "" || strings.ContainsRune("-+", rune(suffix[0]))):
		*v = reportedVersion(s)
		return nil
	case strings.HasPrefix(s, "v"):
		return fmt.Errorf("version %q must match major/minor/patch of default version %q", s, own)
	}
	print, err := strconv.ParseBool(s)
	*v = ""
	if print {
		*v = "true"
	}
	return err
}
