package discovery

import "strings"

// MatchesETag tells whether a header If-None-Match names an ETag.
func MatchesETag(header, etag string) bool {
	for header != "" {
		var item string
		item, header, _ = strings.Cut(header, ",")
		item = strings.TrimSpace(item)
		if item == "*" || strings.TrimPrefix(item, "W/") == etag {
			return true
		}
	}
	return false
}
