package http

import (
	"iter"

	"github.com/valyala/fasthttp"
)

// headers are the headers of a request as package authn reads them.
type headers struct{ of *fasthttp.RequestHeader }

// Values implements authn.Headers.
func (h headers) Values(name string) []string {
	var values []string
	for _, v := range h.of.PeekAll(name) {
		values = append(values, string(v))
	}
	return values
}

// All implements authn.Headers.
func (h headers) All() iter.Seq2[string, string] {
	return func(yield func(name, value string) bool) {
		for name, value := range h.of.All() {
			if !yield(string(name), string(value)) {
				return
			}
		}
	}
}

// Remove implements authn.Headers.
func (h headers) Remove(name string) { h.of.Del(name) }
