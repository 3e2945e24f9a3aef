package credentials

import (
	"iter"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/policy/authn"
)

// A Snapshot holds the credentials and trusted headers of a request. It outlives the request, so
// that the credentials of a watch can be rechecked.
type Snapshot struct {
	// Original holds the credentials. Its Headers are unused.
	Original authn.Request
	// Impersonation reports whether the request had impersonation headers.
	Impersonation bool
	headers       []headerField
}

type headerField struct{ name, value string }

// Request returns the recorded credentials as a new authentication request.
func (c *Snapshot) Request() authn.Request {
	r := c.Original
	r.Headers = &snapshotHeaders{c.headers}
	return r
}

// Digest returns a digest of the credentials and of the strings in more. It excludes the user,
// because the credentials may later belong to a different user.
func (c *Snapshot) Digest(more ...string) authn.Digest {
	all := append([]string{c.Original.Path}, more...)
	for _, cert := range c.Original.Certs {
		all = append(all, string(cert.Raw))
	}
	for _, h := range c.headers {
		all = append(all, h.name, h.value)
	}
	return authn.DigestOf(c.Original.Token, all...)
}

type snapshotHeaders struct{ list []headerField }

func (h *snapshotHeaders) Values(name string) (values []string) {
	for _, field := range h.list {
		if strings.EqualFold(field.name, name) {
			values = append(values, field.value)
		}
	}
	return values
}

func (h *snapshotHeaders) All() iter.Seq2[string, string] {
	return func(yield func(name, value string) bool) {
		for _, field := range h.list {
			if !yield(field.name, field.value) {
				return
			}
		}
	}
}

// Remove hides a header from this authentication request, without changing the Snapshot.
func (h *snapshotHeaders) Remove(name string) {
	h.list = slices.DeleteFunc(slices.Clone(h.list), func(f headerField) bool { return strings.EqualFold(f.name, name) })
}
