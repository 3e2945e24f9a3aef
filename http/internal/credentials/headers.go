package credentials

import (
	"iter"
	"slices"
	"strings"

	"github.com/valyala/fasthttp"
)

// Headers are those of a request as package authn reads them: all but those that have been
// hidden. Nothing is taken out of what fasthttp holds, for that would change the order of the
// rest, and some authenticators decide by that order.
type Headers struct {
	header *fasthttp.RequestHeader
	hidden []string
}

// Values implements authn.Headers.
func (h *Headers) Values(name string) []string {
	if h.isHidden(name) {
		return nil
	}
	var values []string
	for _, v := range h.header.PeekAll(name) {
		values = append(values, string(v))
	}
	return values
}

// All implements authn.Headers.
func (h *Headers) All() iter.Seq2[string, string] {
	return func(yield func(name, value string) bool) {
		for name, value := range h.header.All() {
			if name := string(name); !h.isHidden(name) && !yield(name, string(value)) {
				return
			}
		}
	}
}

// Remove implements authn.Headers.
func (h *Headers) Remove(name string) {
	if !h.isHidden(name) {
		h.hidden = append(h.hidden, name)
	}
}

func (h *Headers) isHidden(name string) bool {
	return slices.ContainsFunc(h.hidden, func(hidden string) bool { return strings.EqualFold(hidden, name) })
}

// Of makes them those of a request, less what has been hidden of it.
func (h *Headers) Of(header *fasthttp.RequestHeader) *Headers {
	h.header = header
	return h
}

// Emptied are Headers for the next request, which use the same memory.
func (h *Headers) Emptied() Headers { return Headers{hidden: h.hidden[:0]} }
