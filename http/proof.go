package http

import (
	"iter"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/policy/authn"
)

// A proof is what a request was let in by: its credentials, and the headers that were believed.
// It outlives the request, so that a watch can be let in again by the same.
type proof struct {
	credentials authn.Request
	headers     []header
	// impersonates: some of the headers ask to act as somebody else.
	impersonates bool
}

type header struct{ name, value string }

// request are the credentials as they came.
func (p *proof) request() authn.Request {
	r := p.credentials
	r.Headers = &believed{p.headers}
	return r
}

// digest is that of the proof, of what else it was for, and nothing of what it proves.
func (p *proof) digest(more ...string) authn.Digest {
	all := append([]string{p.credentials.Path}, more...)
	for _, c := range p.credentials.Certs {
		all = append(all, string(c.Raw))
	}
	for _, h := range p.headers {
		all = append(all, h.name, h.value)
	}
	return authn.DigestOf(p.credentials.Token, all...)
}

// recorder are the headers of a request, of which those that are removed, for they were believed,
// become part of a proof.
type recorder struct {
	authn.Headers
	proof *proof
}

// Remove implements authn.Headers.
func (r recorder) Remove(name string) {
	for _, value := range r.Values(name) {
		r.proof.headers = append(r.proof.headers, header{name, value})
	}
	r.Headers.Remove(name)
}

// believed are headers of a proof.
type believed struct{ list []header }

// Values implements authn.Headers.
func (b *believed) Values(name string) (values []string) {
	for _, h := range b.list {
		if strings.EqualFold(h.name, name) {
			values = append(values, h.value)
		}
	}
	return values
}

// All implements authn.Headers.
func (b *believed) All() iter.Seq2[string, string] {
	return func(yield func(name, value string) bool) {
		for _, h := range b.list {
			if !yield(h.name, h.value) {
				return
			}
		}
	}
}

// Remove implements authn.Headers. The list that it was made of stays.
func (b *believed) Remove(name string) {
	b.list = slices.DeleteFunc(slices.Clone(b.list), func(h header) bool { return strings.EqualFold(h.name, name) })
}

// believes are the headers of the request for those who read identities there. Of a watch, what
// they believe is noted.
func (x *exchange) believes() authn.Headers {
	h := x.headersOf()
	if x.proof == nil {
		return h
	}
	return recorder{h, x.proof}
}
