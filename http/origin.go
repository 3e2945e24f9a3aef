package http

import (
	"github.com/troupe-api/troupe/http/internal/credentials"
	"github.com/troupe-api/troupe/http/internal/origin"
	"github.com/troupe-api/troupe/http/internal/stream"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/valyala/fasthttp"
)

const headerHSTS = "Strict-Transport-Security"

// handleCORS lets pages of allowed origins read the response. If the request is a preflight
// request, it responds and returns true.
func (s *Server) handleCORS(x *requestContext) bool {
	told := origin.Allowed(s.opts.AllowedOrigins).SetHeaders(&x.ctx.Request.Header, &x.ctx.Response.Header)
	if !told || x.info.Method != "OPTIONS" {
		return false
	}
	x.ctx.SetStatusCode(fasthttp.StatusNoContent)
	return true
}

// checkOrigin rejects two types of requests from pages of other origins.
//
// Writes are rejected if only a client certificate identifies the user. Any page can make a browser
// send a form with the user's certificate, but not with a token. Reads are harmless, because the
// page cannot see the response. WebSockets are always rejected, because browsers let a page read
// their messages.
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
