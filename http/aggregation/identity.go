package aggregation

import (
	"net/http"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/policy/authn"
)

// The headers that tell a server for whom it is asked.
const (
	UserHeader  = "X-Remote-User"
	UIDHeader   = "X-Remote-Uid"
	GroupHeader = "X-Remote-Group"
	ExtraPrefix = "X-Remote-Extra-"
)

// IdentityHeaders are the names, and prefixes of names, of headers that servers may have been told to believe.
type IdentityHeaders struct{ Names, Prefixes []string }

// strip removes all of them, and those by which a client asks to act as somebody else. Some servers read an underscore
// in a name as a dash.
func (i IdentityHeaders) strip(h http.Header) {
	names := append([]string{UserHeader, UIDHeader, GroupHeader, "Authorization"}, i.Names...)
	prefixes := append([]string{ExtraPrefix, "Impersonate-"}, i.Prefixes...)
	// Names are compared in any case, since a header that was set by hand need not be in canonical form.
	for name := range h {
		read := strings.ReplaceAll(name, "_", "-")
		if slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(read, n) }) ||
			slices.ContainsFunc(prefixes, func(p string) bool { return len(read) >= len(p) && strings.EqualFold(read[:len(p)], p) }) {
			delete(h, name)
		}
	}
}

// identify makes the headers say for whom the server is asked, and nobody else.
func (i IdentityHeaders) identify(h http.Header, u *authn.User) {
	i.strip(h)
	// From here on the headers are the server's own. No value can end its header: net/http refuses to
	// send such a one.
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

// escapeKey makes a key of extra the end of a header's name: what cannot be in one is percent-encoded.
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
