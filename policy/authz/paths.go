package authz

import "strings"

// AlwaysAllowPaths allows everyone, including anonymous users, to read certain paths. An entry that
// ends in "*" matches a prefix.
type AlwaysAllowPaths []string

// Authorize has no opinion on resources, other paths, and other verbs than get and head.
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

// CoversPath reports whether a path, or a pattern of paths, equals the pattern of a policy or role,
// or matches its prefix before a trailing "*".
func CoversPath(pattern, path string) bool {
	return pattern == path || strings.HasSuffix(pattern, "*") && strings.HasPrefix(path, strings.TrimRight(pattern, "*"))
}

// matchesAlwaysAllowed differs from CoversPath: a trailing slash of the path is ignored, and "*"
// must match at least one character.
func matchesAlwaysAllowed(pattern, path string) bool {
	if below, ok := strings.CutSuffix(pattern, "*"); ok {
		return len(path) > len(below) && strings.HasPrefix(path, below)
	}
	return path == pattern || path == pattern+"/"
}
