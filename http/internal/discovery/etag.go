package discovery

import "strings"

// MatchesETag reports whether an If-None-Match header matches an ETag.
func MatchesETag(header, etag string) bool {
	for header != "" {
		var item string
		item, header, _ = strings.Cut(header, ",")
		item = strings.TrimSpace(item)
		// RFC 9110, section 13.1.2, requires weak comparison.
		if item == "*" || strings.TrimPrefix(item, "W/") == etag {
			return true
		}
	}
	return false
}
