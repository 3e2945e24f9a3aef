package http

import (
	"bytes"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/http/internal/stream"
	"github.com/troupe-api/troupe/kinds/meta"
)

// A browser sends client certificates whatever page it is that asks, and lets any page open a WebSocket.
// So that no page acts in the name of the person who looks at it, pages of other origins may neither open a
// WebSocket nor write where the user is known by the connection alone, unless their origin may read answers
// (CORS). Clients that are no browsers send neither Origin nor Sec-Fetch-Site, and are not concerned.

// checkOrigin refuses what a page of another origin asks for.
func (s *Server) checkOrigin(x *requestContext) error {
	reads := x.method == "GET" || x.method == "HEAD" || x.method == "OPTIONS"
	if !(x.ambientAuth && !reads) && !(x.headerFlags.Upgrade && stream.WantsWebSocket(&x.ctx.Request.Header)) {
		return nil
	}
	if !s.isCrossOrigin(x) {
		return nil
	}
	return &meta.Status{
		Code: 403, Reason: meta.ReasonForbidden, Details: &meta.Details{},
		Message: "the request comes from a page of another origin, which the server does not allow",
	}
}

// isCrossOrigin tells whether the request was sent by a page of an origin that is not allowed.
func (s *Server) isCrossOrigin(x *requestContext) bool {
	h := &x.ctx.Request.Header
	origin := h.Peek("Origin")
	if len(origin) > 0 && s.originAllowed(origin) {
		return false
	}
	switch site := h.Peek("Sec-Fetch-Site"); string(site) {
	case "same-origin", "none": // none: typed in by a person
		return false
	case "":
	default:
		return true
	}
	return len(origin) > 0 && !sameOrigin(string(origin), h.Host(), x.conn.Secure())
}

// originAllowed tells whether pages of an origin may read answers.
func (s *Server) originAllowed(origin []byte) bool {
	return slices.ContainsFunc(s.opts.AllowedOrigins, func(r *regexp.Regexp) bool { return r.Match(origin) })
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
