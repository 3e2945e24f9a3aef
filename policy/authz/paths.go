package authz

import "strings"

// AlwaysAllowPaths lets all users, even anonymous ones, read certain paths. An entry that ends in
// "*" matches by prefix.
type AlwaysAllowPaths []string

// Authorize allows get and head requests for the paths. It has no opinion on other requests.
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

// CoversPath reports whether the pattern of a policy or role matches path, which may itself be a
// pattern. A pattern with a trailing "*" matches by prefix.
func CoversPath(pattern, path string) bool {
	return pattern == path || strings.HasSuffix(pattern, "*") && strings.HasPrefix(path, strings.TrimRight(pattern, "*"))
}

// matchesAlwaysAllowed reports whether path matches pattern. Unlike CoversPath, it ignores a
// trailing slash in path, and requires "*" to match at least one character.
func matchesAlwaysAllowed(pattern, path string) bool {
	if below, ok := strings.CutSuffix(pattern, "*"); ok {
		return len(path) > len(below) && strings.HasPrefix(path, below)
	}
	return path == pattern || path == pattern+"/"
}
