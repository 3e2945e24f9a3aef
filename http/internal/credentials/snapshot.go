package credentials

import (
	"iter"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/policy/authn"
)

// A Snapshot is what a request was let in by: its credentials, and the headers that were
// believed. It outlives the request, so that a watch can be asked for again with the same ones.
type Snapshot struct {
	// Original are the credentials; its Headers are not used.
	Original authn.Request
	// Impersonation: some of the headers ask to act as somebody else.
	Impersonation bool
	headers       []headerField
}

type headerField struct{ name, value string }

// Request are the credentials as they came.
func (c *Snapshot) Request() authn.Request {
	r := c.Original
	r.Headers = &snapshotHeaders{c.headers}
	return r
}

// Digest is that of the credentials and of what else is given. The user is no part of it, for the same
// credentials may come to stand for another one.
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

// snapshotHeaders are the headers of a snapshot.
type snapshotHeaders struct{ list []headerField }

// Values implements authn.Headers.
func (h *snapshotHeaders) Values(name string) (values []string) {
	for _, field := range h.list {
		if strings.EqualFold(field.name, name) {
			values = append(values, field.value)
		}
	}
	return values
}

// All implements authn.Headers.
func (h *snapshotHeaders) All() iter.Seq2[string, string] {
	return func(yield func(name, value string) bool) {
		for _, field := range h.list {
			if !yield(field.name, field.value) {
				return
			}
		}
	}
}

// Remove implements authn.Headers. The snapshot keeps the header.
func (h *snapshotHeaders) Remove(name string) {
	h.list = slices.DeleteFunc(slices.Clone(h.list), func(f headerField) bool { return strings.EqualFold(f.name, name) })
}
