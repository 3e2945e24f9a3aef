package credentials

import (
	"net/url"
	"strings"
)

// TokenParameter is a query parameter in which some other servers accept bearer tokens.
const TokenParameter = "access_token"

const redacted = "REDACTED"

// Redact removes the values of query parameters that may contain bearer tokens: their decoded name
// contains "token" in any case, or cannot be decoded.
func Redact(target string) string {
	path, rest, ok := strings.Cut(target, "?")
	if !ok || !strings.ContainsAny(rest, "%tT") {
		return target
	}
	var b strings.Builder
	b.WriteString(path)
	b.WriteByte('?')
	for rest != "" {
		end := strings.IndexAny(rest, "&;")
		if end < 0 {
			end = len(rest)
		}
		name, _, given := strings.Cut(rest[:end], "=")
		if given && isToken(name) {
			b.WriteString(name + "=" + redacted)
		} else {
			b.WriteString(rest[:end])
		}
		if end < len(rest) {
			b.WriteByte(rest[end])
			end++
		}
		rest = rest[end:]
	}
	return b.String()
}

func isToken(name string) bool {
	plain, err := url.QueryUnescape(name)
	return err != nil || strings.Contains(strings.ToLower(plain), "token")
}
