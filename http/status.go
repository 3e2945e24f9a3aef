package http

import (
	"errors"
	"net"
	"strconv"

	"github.com/troupe-api/troupe/http/internal/apierrors"
	"github.com/troupe-api/troupe/http/internal/negotiate"
	"github.com/troupe-api/troupe/http/internal/wire"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/valyala/fasthttp"
)

// writeError responds with an error. If the user is not known yet, it also starts the audit,
// because rejected credentials must be audited too.
func (s *Server) writeError(x *requestContext, err error) {
	f := s.asStatus(x, err)
	if f.Code == 405 && x.info.IsResource {
		s.setAllowHeader(x)
	}
	s.auditRefusal(x)
	var text *apierrors.Text
	if errors.As(err, &text) {
		x.auditResponseStatus(f)
		x.ctx.SetStatusCode(f.Code)
		s.writeRaw(x, negotiate.TypeText, []byte(f.Message+"\n"))
		return
	}
	s.negotiateError(x)
	s.writeStatus(x, f)
}

// negotiateError selects the encoding of an error before negotiation. If no encoding is acceptable,
// it selects JSON, because a 406 would hide the error.
func (s *Server) negotiateError(x *requestContext) {
	if x.state.formatKnown() {
		return
	}
	if f, err := s.names.Negotiate(x.acceptHeader(), negotiate.Documents); err == nil {
		x.format.Encoding = f.Encoding
	}
}

func (s *Server) writeStatus(x *requestContext, f *meta.Status) {
	ctx := x.ctx
	if f.Code == 0 && f.Success {
		ctx.SetStatusCode(200)
	} else {
		ctx.SetStatusCode(f.Code)
	}
	if f.Details != nil && f.Details.RetryAfterSeconds > 0 {
		x.setHeader("Retry-After", strconv.Itoa(f.Details.RetryAfterSeconds))
	}
	doc := f.AppendJSON(nil)
	x.auditResponseStatus(f)
	if x.format.Encoding == negotiate.Protobuf {
		if body, err := s.encoder.Meta("Status", "v1", doc); err == nil {
			s.writeBody(x, body)
			return
		}
		x.format.Encoding = negotiate.JSON
	}
	s.writeDocument(x, doc)
}

// writeHeadError responds to a request whose head could not be read. Without a requestContext, the
// response is always JSON. The caller closes the connection.
func (s *Server) writeHeadError(ctx *fasthttp.RequestCtx, err error) {
	f := apierrors.BadRequest("the request is malformed")
	var netErr net.Error
	switch {
	case errors.Is(err, wire.ErrHeadTooLarge):
		f = &meta.Status{Code: 431, Message: "the headers of the request are too large"}
	case errors.Is(err, wire.ErrTooManyLargeHeads):
		f = apierrors.TooManyRequests()
		ctx.Response.Header.Set("Retry-After", strconv.Itoa(f.Details.RetryAfterSeconds))
	case errors.As(err, &netErr) && netErr.Timeout():
		f = apierrors.RequestTimeout()
	}
	if s.opts.StrictTransportSecurity != "" {
		ctx.Response.Header.Set(headerHSTS, s.opts.StrictTransportSecurity)
	}
	ctx.SetStatusCode(f.Code)
	ctx.Response.Header.SetContentType(negotiate.TypeJSON)
	ctx.Response.SetBodyRaw(append(f.AppendJSON(nil), '\n'))
}
