package origin

import (
	"bytes"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/valyala/fasthttp"
)

// Allowed contains patterns of the origins whose pages may read responses.
type Allowed []*regexp.Regexp

// Has reports whether an origin is allowed.
func (a Allowed) Has(origin []byte) bool {
	return slices.ContainsFunc(a, func(r *regexp.Regexp) bool { return r.Match(origin) })
}

// IsCross reports whether a request comes from a page of another origin that is not allowed.
// secure is set if the connection uses TLS.
func (a Allowed) IsCross(h *fasthttp.RequestHeader, secure bool) bool {
	origin := h.Peek("Origin")
	if len(origin) > 0 && a.Has(origin) {
		return false
	}
	switch site := h.Peek("Sec-Fetch-Site"); string(site) {
	case "same-origin", "none": // none: typed by the user
		return false
	case "":
	default:
		return true
	}
	return len(origin) > 0 && !sameOrigin(string(origin), h.Host(), secure)
}

// sameOrigin reports whether an origin is the server's own, according to the Host header.
func sameOrigin(origin string, host []byte, secure bool) bool {
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" {
		return false // such as "null"
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
