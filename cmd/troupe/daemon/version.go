package daemon

import "github.com/troupe-api/troupe/http"

// Version is the version of this program, which release builds set through the linker.
var Version = "0.1.0"

// GitVersion returns the version in the response of /version, such as "v1.35.0+troupe.0.1.0".
func GitVersion() string { return http.GitVersion(Version) }
