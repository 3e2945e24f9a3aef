package http

import (
	"iter"
	"slices"
	"strings"

	"github.com/valyala/fasthttp"
)

// headerView are the headers of a request as package authn reads them: all but those that have been
// hidden. Nothing is taken out of what fasthttp holds, for that would change the order of the
// rest, and some authenticators decide by that order.
type headerView struct {
	header *fasthttp.RequestHeader
	hidden []string
}

// Values implements authn.Headers.
func (h *headerView) Values(name string) []string {
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
func (h *headerView) All() iter.Seq2[string, string] {
	return func(yield func(name, value string) bool) {
		for name, value := range h.header.All() {
			if name := string(name); !h.isHidden(name) && !yield(name, string(value)) {
				return
			}
		}
	}
}

// Remove implements authn.Headers.
func (h *headerView) Remove(name string) {
	if !h.isHidden(name) {
		h.hidden = append(h.hidden, name)
	}
}

func (h *headerView) isHidden(name string) bool {
	return slices.ContainsFunc(h.hidden, func(hidden string) bool { return strings.EqualFold(hidden, name) })
}

// visibleHeaders are those of the request that the next filter may read.
func (x *requestContext) visibleHeaders() *headerView {
	x.headers.header = &x.ctx.Request.Header
	return &x.headers
}
