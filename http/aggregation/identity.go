package aggregation

import (
	"net/http"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/policy/authn"
)

// Identity headers for backends.
const (
	UserHeader  = "X-Remote-User"
	UIDHeader   = "X-Remote-Uid"
	GroupHeader = "X-Remote-Group"
	ExtraPrefix = "X-Remote-Extra-"
)

// IdentityHeaders holds names and prefixes of additional headers that backends may trust.
type IdentityHeaders struct{ Names, Prefixes []string }

// strip removes identity and impersonation headers. It treats underscores in names as dashes, like
// some servers.
func (i IdentityHeaders) strip(h http.Header) {
	names := append([]string{UserHeader, UIDHeader, GroupHeader, "Authorization"}, i.Names...)
	prefixes := append([]string{ExtraPrefix, "Impersonate-"}, i.Prefixes...)
	// Ignore case, because headers that were set directly need not be canonical.
	for name := range h {
		read := strings.ReplaceAll(name, "_", "-")
		if slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(read, n) }) ||
			slices.ContainsFunc(prefixes, func(p string) bool { return len(read) >= len(p) && strings.EqualFold(read[:len(p)], p) }) {
			delete(h, name)
		}
	}
}

// identify replaces all identity headers with those of the user.
func (i IdentityHeaders) identify(h http.Header, u *authn.User) {
	i.strip(h)
	// Values cannot inject headers, because net/http rejects line breaks.
	h.Set(UserHeader, u.Name)
	if u.UID != "" {
		h.Set(UIDHeader, u.UID)
	}
	for _, group := range u.Groups {
		h.Add(GroupHeader, group)
	}
	for key, values := range u.Extra {
		for _, value := range values {
			h.Add(ExtraPrefix+escapeKey(key), value)
		}
	}
}

// escapeKey percent-encodes a key of the user's extra fields for use in a header name.
func escapeKey(key string) string {
	const plain = "!#$&'*+-.^_`|~" // RFC 9110, 5.6.2, without the percent sign
	var b strings.Builder
	for _, c := range []byte(key) {
		if c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.IndexByte(plain, c) >= 0 {
			b.WriteByte(c)
			continue
		}
		const digits = "0123456789ABCDEF"
		b.WriteByte('%')
		b.WriteByte(digits[c>>4])
		b.WriteByte(digits[c&15])
	}
	return b.String()
}
