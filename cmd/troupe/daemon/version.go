package daemon

import "github.com/troupe-api/troupe/http"

// Version is the program's version. Release builds set it through the linker.
var Version = "0.1.0"

// GitVersion returns the version in the /version response, such as "v1.37.2+troupe.0.1.0".
func GitVersion() string { return http.GitVersion(Version) }
