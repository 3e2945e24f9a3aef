package http

import (
	"github.com/troupe-api/troupe/http/internal/apierrors"
	"github.com/troupe-api/troupe/http/internal/negotiate"
	"github.com/troupe-api/troupe/http/internal/wire"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/flowcontrol"
	"github.com/valyala/fasthttp"
)

// A connection holds the state shared by all requests on one client connection.
type connection struct {
	*wire.Conn
	server *Server
	// authCache caches the authentication result for the client certificates.
	authCache    authn.ConnCache
	user         *authn.User // of the last request, if not anonymous
	reserved     bool        // user may use the reserves
	flow         flowcontrol.Classification
	warnedNaming bool
}

// ServeRequest handles one request. It produces exactly one response, even if a handler panics. The
// deferred calls, in reverse order, turn a panic into a response, audit and count the response, and
// release the requestContext.
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

func (c *connection) RejectHead(ctx *fasthttp.RequestCtx, err error) {
	c.server.writeHeadError(ctx, err)
}

// ReplaceUnwritable replaces a response with a 500 if its body failed before the first byte was
// sent. It removes the headers about the body, but keeps the audit ID.
func (c *connection) ReplaceUnwritable(r *fasthttp.Response) {
	r.ResetBody()
	r.Header.Del("Content-Encoding")
	r.Header.Del("Vary")
	r.Header.SetContentType(negotiate.TypeJSON)
	f := apierrors.InternalError(string(r.Header.PeekBytes(headerAuditID)))
	r.SetStatusCode(f.Code)
	r.SetBodyRaw(append(f.AppendJSON(nil), '\n'))
}
