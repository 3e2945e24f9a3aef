package http

import (
	"iter"
	"slices"
	"strings"

	"github.com/valyala/fasthttp"
)

// headers are the headers of a request as package authn reads them: all but those that have been
// hidden. Nothing is taken out of what fasthttp holds, for that would change the order of the
// rest, and with it who the caller is.
type headers struct {
	of     *fasthttp.RequestHeader
	hidden []string
}

// Values implements authn.Headers.
func (h *headers) Values(name string) []string {
	if h.hides(name) {
		return nil
	}
	var values []string
	for _, v := range h.of.PeekAll(name) {
		values = append(values, string(v))
	}
	return values
}

// All implements authn.Headers.
func (h *headers) All() iter.Seq2[string, string] {
	return func(yield func(name, value string) bool) {
		for name, value := range h.of.All() {
			if name := string(name); !h.hides(name) && !yield(name, string(value)) {
				return
			}
		}
	}
}

// Remove implements authn.Headers.
func (h *headers) Remove(name string) {
	if !h.hides(name) {
		h.hidden = append(h.hidden, name)
	}
}

func (h *headers) hides(name string) bool {
	return slices.ContainsFunc(h.hidden, func(hidden string) bool { return strings.EqualFold(hidden, name) })
}

// headersOf are those of the request that the next filter may read.
func (x *exchange) headersOf() *headers {
	x.headers.of = &x.ctx.Request.Header
	return &x.headers
}
