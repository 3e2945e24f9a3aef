package credentials

import (
	"net/url"
	"strings"
)

// TokenParameter is a query parameter with which clients of other servers send a bearer token.
const TokenParameter = "access_token"

// redacted replaces what may be a token.
const redacted = "REDACTED"

// Redact removes bearer tokens from a request target, however their parameters are spelled or
// escaped. A parameter that cannot be decoded may be one.
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

// isToken reports whether an encoded parameter name may hold a token.
func isToken(name string) bool {
	plain, err := url.QueryUnescape(name)
	return err != nil || strings.Contains(strings.ToLower(plain), "token")
}
