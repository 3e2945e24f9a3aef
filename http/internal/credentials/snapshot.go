package credentials

import (
	"iter"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/policy/authn"
)

// A Snapshot has the credentials and trusted headers by which a request was admitted. It outlives
// the request, so that a watch can be checked again.
type Snapshot struct {
	// Original has the credentials; its Headers are not used.
	Original authn.Request
	// Impersonation is set if there are impersonation headers.
	Impersonation bool
	headers       []headerField
}

type headerField struct{ name, value string }

// Request returns the original credentials.
func (c *Snapshot) Request() authn.Request {
	r := c.Original
	r.Headers = &snapshotHeaders{c.headers}
	return r
}

// Digest returns a digest of the credentials and more. It excludes the user, which may change for
// the same credentials.
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

// Remove implements authn.Headers. The Snapshot is not changed.
func (h *snapshotHeaders) Remove(name string) {
	h.list = slices.DeleteFunc(slices.Clone(h.list), func(f headerField) bool { return strings.EqualFold(f.name, name) })
}
