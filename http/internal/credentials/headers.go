package credentials

import (
	"iter"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/policy/authn"
	"github.com/valyala/fasthttp"
)

// Headers is an authenticator's view of the request headers, without hidden headers. Hidden headers
// stay in Header, because fasthttp would reorder the others on removal, and some authenticators
// depend on their order. A Headers must not be copied.
type Headers struct {
	Header *fasthttp.RequestHeader
	// Snapshot, if set, records the identity headers that authenticators remove.
	Snapshot *Snapshot

	hidden []string
	space  [4]string // for hidden
}

var _ authn.Headers = (*Headers)(nil)

func (h *Headers) Values(name string) []string {
	if h.isHidden(name) {
		return nil
	}
	var values []string
	for _, v := range h.Header.PeekAll(name) {
		values = append(values, string(v))
	}
	return values
}

func (h *Headers) All() iter.Seq2[string, string] {
	return func(yield func(name, value string) bool) {
		for name, value := range h.Header.All() {
			if name := string(name); !h.isHidden(name) && !yield(name, string(value)) {
				return
			}
		}
	}
}

func (h *Headers) Remove(name string) {
	if h.Snapshot != nil {
		for _, value := range h.Values(name) {
			h.Snapshot.headers = append(h.Snapshot.headers, headerField{name, value})
		}
	}
	h.Hide(name)
}

// Hide hides a header without recording it in the Snapshot.
func (h *Headers) Hide(name string) {
	if h.hidden == nil {
		h.hidden = h.space[:0]
	}
	if !h.isHidden(name) {
		h.hidden = append(h.hidden, name)
	}
}

func (h *Headers) isHidden(name string) bool {
	return slices.ContainsFunc(h.hidden, func(hidden string) bool { return strings.EqualFold(hidden, name) })
}
