package discovery

import "strings"

// MatchesETag tells whether a header If-None-Match names an ETag.
func MatchesETag(header, etag string) bool {
	for header != "" {
		var item string
		item, header, _ = strings.Cut(header, ",")
		item = strings.TrimSpace(item)
		// A weak tag is as good as a strong one where nothing but the content counts (RFC 9110, 13.1.2).
		if item == "*" || strings.TrimPrefix(item, "W/") == etag {
			return true
		}
	}
	return false
}
