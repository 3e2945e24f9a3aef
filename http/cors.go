package http

import "github.com/valyala/fasthttp"

const headerHSTS = "Strict-Transport-Security"

// What pages of allowed origins may do.
const (
	corsMethods = "POST, GET, OPTIONS, PUT, DELETE, PATCH"
	corsHeaders = "Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, X-Requested-With, If-Modified-Since"
	corsExposed = "Date"
)

// setHSTS tells browsers to come over TLS only, if that is configured.
func (s *Server) setHSTS(h *fasthttp.ResponseHeader) {
	if s.opts.StrictTransportSecurity != "" {
		h.Set(headerHSTS, s.opts.StrictTransportSecurity)
	}
}

// handleCORS tells the browser of an allowed origin that the origin's pages may read the
// answer. A preflight, which asks whether they may, is thereby answered: handleCORS returns
// true. Other origins are told nothing, which browsers take for no.
func (s *Server) handleCORS(x *requestContext) bool {
	if len(s.opts.AllowedOrigins) == 0 {
		return false
	}
	origin := x.ctx.Request.Header.Peek("Origin")
	if len(origin) == 0 || !s.originAllowed(origin) {
		return false
	}
	h := &x.ctx.Response.Header
	h.SetBytesV("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Allow-Methods", corsMethods)
	h.Set("Access-Control-Allow-Headers", corsHeaders)
	h.Set("Access-Control-Expose-Headers", corsExposed)
	h.Set("Access-Control-Allow-Credentials", "true")
	if x.method != "OPTIONS" {
		return false
	}
	x.ctx.SetStatusCode(fasthttp.StatusNoContent)
	return true
}
