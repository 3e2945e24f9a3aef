package daemon

import (
	"github.com/troupe-api/troupe/http"
	"github.com/troupe-api/troupe/internal/build"
)

// Version is the version of Troupe, from the build info, such as "0.3.0".
var Version = build.Version()

// GitVersion returns the version in the /version response, such as "v1.37.2+troupe.0.3.0".
func GitVersion() string { return http.GitVersion(Version) }
