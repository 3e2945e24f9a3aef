package http

import (
	"iter"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/policy/authn"
)

// A proof is what a request was let in by: its credentials, and the headers that were believed.
// It outlives the request, so that a watch can be let in again by the same.
type credentialSnapshot struct {
	original authn.Request
	headers  []headerField
	// impersonation: some of the headers ask to act as somebody else.
	impersonation bool
}

type headerField struct{ name, value string }

// newRequest are the credentials as they came.
func (p *credentialSnapshot) newRequest() authn.Request {
	r := p.original
	r.Headers = &snapshotHeaders{p.headers}
	return r
}

// digest is that of the proof, of what else it was for, and nothing of what it proves.
func (p *credentialSnapshot) digest(more ...string) authn.Digest {
	all := append([]string{p.original.Path}, more...)
	for _, c := range p.original.Certs {
		all = append(all, string(c.Raw))
	}
	for _, h := range p.headers {
		all = append(all, h.name, h.value)
	}
	return authn.DigestOf(p.original.Token, all...)
}

// recordingHeaders are the headers of a request, of which those that are removed, for they were believed,
// become part of a proof.
type recordingHeaders struct {
	authn.Headers
	snapshot *credentialSnapshot
}

// Remove implements authn.Headers.
func (r recordingHeaders) Remove(name string) {
	for _, value := range r.Values(name) {
		r.snapshot.headers = append(r.snapshot.headers, headerField{name, value})
	}
	r.Headers.Remove(name)
}

// snapshotHeaders are headers of a proof.
type snapshotHeaders struct{ list []headerField }

// Values implements authn.Headers.
func (b *snapshotHeaders) Values(name string) (values []string) {
	for _, h := range b.list {
		if strings.EqualFold(h.name, name) {
			values = append(values, h.value)
		}
	}
	return values
}

// All implements authn.Headers.
func (b *snapshotHeaders) All() iter.Seq2[string, string] {
	return func(yield func(name, value string) bool) {
		for _, h := range b.list {
			if !yield(h.name, h.value) {
				return
			}
		}
	}
}

// Remove implements authn.Headers. The list that it was made of stays.
func (b *snapshotHeaders) Remove(name string) {
	b.list = slices.DeleteFunc(slices.Clone(b.list), func(h headerField) bool { return strings.EqualFold(h.name, name) })
}

// identityHeaders are the headers of the request for those who read identities there. Of a watch, what
// they believe is noted.
func (x *requestContext) identityHeaders() authn.Headers {
	h := x.visibleHeaders()
	if x.credentials == nil {
		return h
	}
	return recordingHeaders{h, x.credentials}
}
