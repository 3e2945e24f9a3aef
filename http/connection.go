package http

import (
	"github.com/troupe-api/troupe/http/internal/apierrors"
	"github.com/troupe-api/troupe/http/internal/negotiate"
	"github.com/troupe-api/troupe/http/internal/wire"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/valyala/fasthttp"
)

// A connection is what the front keeps of one connection, beside the connection itself.
type connection struct {
	*wire.Conn
	server *Server
	// authCache is what authentication has found out about the client's certificates.
	authCache authn.ConnCache
}

// ServeRequest implements wire.Handler: it answers a request with exactly one answer, whatever happens.
//
// The defers run from the last to the first: a panic becomes an answer, then the audit sees it, then it is counted,
// and only then the requestContext goes back.
func (c *connection) ServeRequest(ctx *fasthttp.RequestCtx) {
	s, x := c.server, newRequestContext(c, ctx)
	defer x.release()
	defer s.countRequest(x)
	defer s.endAudit(x)
	defer s.recoverPanic(x)
	if err := s.runFilters(x); err != nil {
		s.writeError(x, err)
	}
}

// RejectHead implements wire.Handler.
func (c *connection) RejectHead(ctx *fasthttp.RequestCtx, err error) {
	c.server.writeHeadError(ctx, err)
}

// ReplaceUnwritable implements wire.Handler.
//
// It is the 500 for a body that failed before its first byte went out. The headers that were about the body go; the
// audit id stays, which is the id that the text of the Status names.
func (c *connection) ReplaceUnwritable(r *fasthttp.Response) {
	r.ResetBody()
	r.Header.Del("Content-Encoding")
	r.Header.Del("Vary")
	r.Header.SetContentType(negotiate.TypeJSON)
	f := apierrors.InternalError(string(r.Header.PeekBytes(headerAuditID)))
	r.SetStatusCode(f.Code)
	r.SetBodyRaw(append(f.AppendJSON(nil), '\n'))
}
