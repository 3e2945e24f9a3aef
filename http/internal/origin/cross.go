package origin

import (
	"bytes"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/valyala/fasthttp"
)

// Allowed are the origins whose pages may read answers; none: no page may.
type Allowed []*regexp.Regexp

// Has tells whether pages of an origin may read answers.
func (a Allowed) Has(origin []byte) bool {
	return slices.ContainsFunc(a, func(r *regexp.Regexp) bool { return r.Match(origin) })
}

// IsCross tells whether a request was sent by a page of an origin that is not allowed; secure: it came over TLS.
func (a Allowed) IsCross(h *fasthttp.RequestHeader, secure bool) bool {
	origin := h.Peek("Origin")
	if len(origin) > 0 && a.Has(origin) {
		return false
	}
	switch site := h.Peek("Sec-Fetch-Site"); string(site) {
	case "same-origin", "none": // none: typed in by a person
		return false
	case "":
	default:
		return true
	}
	return len(origin) > 0 && !sameOrigin(string(origin), h.Host(), secure)
}

// sameOrigin tells whether an origin is that of the server, as the client calls it.
func sameOrigin(origin string, host []byte, secure bool) bool {
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" {
		return false // "null" among others
	}
	scheme, port := "http", []byte(":80")
	if secure {
		scheme, port = "https", []byte(":443")
	}
	if !strings.EqualFold(u.Scheme, scheme) {
		return false
	}
	return bytes.EqualFold(bytes.TrimSuffix([]byte(u.Host), port), bytes.TrimSuffix(host, port))
}
