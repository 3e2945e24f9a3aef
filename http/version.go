package http

import "github.com/troupe-api/troupe/http/internal/discovery"

// GitVersion returns the version that /version reports, given the daemon's own version, such as
// "0.1.0".
func GitVersion(own string) string { return discovery.GitVersion(own) }
