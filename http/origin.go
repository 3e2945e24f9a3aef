package http

import (
	"github.com/troupe-api/troupe/http/internal/credentials"
	"github.com/troupe-api/troupe/http/internal/origin"
	"github.com/troupe-api/troupe/http/internal/stream"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/valyala/fasthttp"
)

const headerHSTS = "Strict-Transport-Security"

// handleCORS tells the browser of an allowed origin that the origin's pages may read the
// answer. A preflight, which asks whether they may, is thereby answered: handleCORS returns
// true.
func (s *Server) handleCORS(x *requestContext) bool {
	told := origin.Allowed(s.opts.AllowedOrigins).SetHeaders(&x.ctx.Request.Header, &x.ctx.Response.Header)
	if !told || x.info.Method != "OPTIONS" {
		return false
	}
	x.ctx.SetStatusCode(fasthttp.StatusNoContent)
	return true
}

// checkOrigin refuses what a page of another origin asks for: it may neither open a WebSocket nor write where the
// user is known by the connection alone.
//
// A page of any origin can make a browser send a form with the user's certificate. A token is never sent by itself,
// so requests with one pass. Reads pass as well, for the page cannot see the answer. WebSockets have no such
// protection in browsers, and are refused however the user is known.
func (s *Server) checkOrigin(x *requestContext) error {
	h := &x.ctx.Request.Header
	reads := x.info.Method == "GET" || x.info.Method == "HEAD" || x.info.Method == "OPTIONS"
	certificateOnly := len(x.conn.ClientCerts()) > 0 && len(credentials.BearerToken(h.Peek("Authorization"))) == 0
	if !(certificateOnly && !reads) && !(x.headerFlags.Upgrade && stream.WantsWebSocket(h)) {
		return nil
	}
	if !origin.Allowed(s.opts.AllowedOrigins).IsCross(h, x.conn.Secure()) {
		return nil
	}
	return &meta.Status{
		Code: 403, Reason: meta.ReasonForbidden, Details: &meta.Details{},
		Message: "the request comes from a page of another origin, which the server does not allow",
	}
}
