package authz

import "strings"

// AlwaysAllowPaths allows everybody, with or without a credential, to read certain paths. An entry
// that ends in "*" stands for all paths that begin so.
type AlwaysAllowPaths []string

// HealthPaths are the paths that tell whether the server lives.
func HealthPaths() AlwaysAllowPaths {
	return AlwaysAllowPaths{"/healthz", "/healthz/*", "/livez", "/livez/*", "/readyz", "/readyz/*"}
}

// Authorize has no opinion on resources, other paths and other verbs than get and head.
func (p AlwaysAllowPaths) Authorize(a Attributes) (Decision, string) {
	if a.ResourceRequest || a.Verb != "get" && a.Verb != "head" {
		return NoOpinion, ""
	}
	for _, pattern := range p {
		if matchesAlwaysAllowed(pattern, a.Path) {
			return Allow, ""
		}
	}
	return NoOpinion, ""
}

// CoversPath tells whether a path, or a pattern of paths, is within the pattern of a policy or a
// role: it is the same, or the pattern ends in "*" and it begins like the rest.
func CoversPath(pattern, path string) bool {
	return pattern == path || strings.HasSuffix(pattern, "*") && strings.HasPrefix(path, strings.TrimRight(pattern, "*"))
}

// matchesAlwaysAllowed is not quite the same: a slash at the end of the path counts nothing, and "*" stands
// for something.
func matchesAlwaysAllowed(pattern, path string) bool {
	if below, ok := strings.CutSuffix(pattern, "*"); ok {
		return len(path) > len(below) && strings.HasPrefix(path, below)
	}
	return path == pattern || path == pattern+"/"
}
