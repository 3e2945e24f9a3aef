package http

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/troupe-api/troupe/http/internal/apierrors"
	"github.com/troupe-api/troupe/http/internal/deadline"
	"github.com/troupe-api/troupe/http/internal/negotiate"
	"github.com/troupe-api/troupe/http/internal/requestinfo"
	"github.com/troupe-api/troupe/http/internal/wire"
	"github.com/troupe-api/troupe/kinds/meta"
)

// recoverPanic converts a panic to a 500. The log and the response contain the same ID. A proxied
// response is cut off. After a watch has hijacked the connection, no response can be sent.
func (s *Server) recoverPanic(x *requestContext) {
	fault := recover()
	if fault == nil {
		return
	}
	id := requestinfo.NewID()
	s.log.Error("panic while serving a request", "id", id, "method", x.info.Method, "path", x.info.Path,
		"panic", fmt.Sprint(fault), "stack", string(debug.Stack()))
	switch x.state {
	case stateHijacked:
	case stateForwarded:
		x.state = stateCut
		x.conn.SetCut()
	default:
		x.ctx.Response.Reset()
		s.setCommonHeaders(x)
		s.writeError(x, apierrors.InternalError(id))
		x.state = statePanicked
	}
}

// runFilters runs the filters, in the order that doc.go documents, and then the handler. Cheap
// checks that need only the request come first. No filter before authenticate may reveal which
// objects exist. Flow control precedes authorization, because authorization may call a webhook.
func (s *Server) runFilters(x *requestContext) error {
	if err := s.parseHead(x); err != nil {
		// The end of this request is unknown, so later bytes must not be parsed as a request.
		x.ctx.SetConnectionClose()
		x.state = stateMalformed
		return err
	}
	if len(s.opts.AllowedOrigins) > 0 && s.handleCORS(x) {
		return nil
	}
	if err := s.setDeadline(x); err != nil {
		return err
	}
	if err := s.authenticate(x); err != nil {
		return err
	}
	if s.opts.TracerProvider != nil {
		s.startSpan(x)
	}
	if err := s.beginAudit(x); err != nil {
		return err
	}
	if err := s.checkOrigin(x); err != nil {
		return err
	}
	if s.opts.Naming == meta.Platform && !x.conn.warnedNaming {
		s.warnNaming(x)
	}
	if x.headerFlags.Impersonation {
		if err := s.impersonate(x); err != nil {
			return err
		}
	}
	defer x.permit.Release() // unless a response.Stream has taken it over
	if err := s.acquireTurn(x); err != nil {
		return err
	}
	if err := s.authorize(x); err != nil {
		return err
	}
	if s.opts.Faults != nil && x.info.IsResource {
		return s.routeWithFault(x)
	}
	return s.route(x)
}

// parseHead validates the head of a request and parses its target.
//
// It sets an audit ID, or accepts the client's, even for malformed requests, so that users can
// report the ID of any response.
func (s *Server) parseHead(x *requestContext) (err error) {
	h := &x.ctx.Request.Header
	if x.headerFlags, err = wire.ValidateHead(h); x.headerFlags.ConnectionClose {
		x.ctx.SetConnectionClose()
	}
	if x.headerFlags.AuditID {
		x.auditID = string(h.Peek("Audit-Id"))
	}
	if x.auditID == "" {
		x.auditID = requestinfo.NewID()
	}
	s.setCommonHeaders(x)
	if err == nil {
		err = x.target.Parse(h.RequestURI(), h.Host())
	}
	if err != nil {
		return err
	}
	if q := x.target.Query; q != "" && !q.Valid() {
		return apierrors.BadRequest("the query contains an invalid escape")
	}
	x.info.Parse(x.info.Method, &x.target)
	x.format.Pretty = negotiate.WantsPretty(x.target.Query, x.ctx.UserAgent())
	return nil
}

var (
	headerAuditID      = []byte("Audit-Id")
	headerCacheControl = []byte("Cache-Control")
	noCache            = []byte("no-cache, private")
)

func (s *Server) setCommonHeaders(x *requestContext) {
	h := &x.ctx.Response.Header
	h.SetBytesK(headerAuditID, x.auditID)
	h.SetCanonical(headerCacheControl, noCache)
	if s.opts.StrictTransportSecurity != "" {
		h.Set(headerHSTS, s.opts.StrictTransportSecurity)
	}
}

// setDeadline sets the request's deadline. For requests other than watches, a positive timeout
// parameter may shorten it. The deadline is relative to the arrival of the request head, and so
// includes the time to receive the body.
func (s *Server) setDeadline(x *requestContext) error {
	timeout := s.opts.Limits.RequestTimeout
	if text := x.target.Query.Get("timeout"); text != "" && x.info.Verb != "watch" {
		d, err := time.ParseDuration(text)
		if err != nil {
			return apierrors.BadRequest("invalid timeout specified in the request URL")
		}
		if d > 0 {
			timeout = min(timeout, d)
		}
	}
	x.deadlineCtx = deadline.After(x.start, timeout, x.conn)
	return nil
}

// asStatus converts an error of a handler or the store to a Status. Timeouts and cancellations
// become a 504. Errors that are not a Status are logged and hidden from the client.
func (s *Server) asStatus(x *requestContext, err error) *meta.Status {
	var status *meta.Status
	switch {
	case errors.As(err, &status):
		return status.Bounded()
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return apierrors.GatewayTimeout()
	}
	id := requestinfo.NewID()
	s.log.Error("internal error", "id", id, "path", x.info.Path, "error", err)
	return apierrors.InternalError(id)
}
