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

// recoverPanic turns a panic into an answer and a line in the log.
//
// The text of the panic stays in the log, under an id that the client gets. A watch has taken the connection over,
// and there is no answer left to make; one that is passed on is cut.
func (s *Server) recoverPanic(x *requestContext) {
	fault := recover()
	if fault == nil {
		return
	}
	id := requestinfo.NewID()
	s.log.Error("panic while answering", "id", id, "method", x.info.Method, "path", x.info.Path,
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

// runFilters runs the filters in the order in which they are written here, and then the handler.
//
// The order is part of the contract, see doc.go. What costs nothing and depends on the request alone comes first; no
// filter before authenticate may show what exists; its turn is waited for before authorization, which may ask a webhook.
func (s *Server) runFilters(x *requestContext) error {
	if err := s.parseHead(x); err != nil {
		// Where the request ends is not certain, so what follows on the connection is not taken for the next one.
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
	if err := s.beginAudit(x); err != nil {
		return err
	}
	if err := s.checkOrigin(x); err != nil {
		return err
	}
	if x.headerFlags.Impersonation {
		if err := s.impersonate(x); err != nil {
			return err
		}
	}
	defer x.permit.Release() // a response.Stream takes it over
	if err := s.takeTurn(x); err != nil {
		return err
	}
	if err := s.authorize(x); err != nil {
		return err
	}
	return s.route(x)
}

// takeTurn waits for what the request needs to be worked on, or refuses it.
func (s *Server) takeTurn(x *requestContext) error {
	if err := s.acquireSeats(x); err != nil {
		return err
	}
	return s.acquireSlot(x)
}

// parseHead checks the form of a request and reads its target.
//
// The id by which it is audited, and which a client may bring, comes even before a malformed request is refused, so
// that every answer has an id to ask the operator about.
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
		return apierrors.BadRequest("the query holds a bad escape")
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

// setCommonHeaders gives the answer its common headers: those of a watch are a copy of them (watchHead).
func (s *Server) setCommonHeaders(x *requestContext) {
	h := &x.ctx.Response.Header
	h.SetBytesK(headerAuditID, x.auditID)
	h.SetCanonical(headerCacheControl, noCache)
	if s.opts.StrictTransportSecurity != "" {
		h.Set(headerHSTS, s.opts.StrictTransportSecurity)
	}
}

// setDeadline bounds everything but watches, which have a parameter of their own.
//
// A client can only shorten the time; one that is not above zero asks for nothing. The deadline counts from when the head was read, so that a slow body uses up
// its own client's time.
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
	x.deadlineCtx = deadline.At(x.start.Add(timeout), x.conn)
	return nil
}

// asStatus is the Status for what a handler or the store has returned. Any other error is logged, and
// its text kept from the client.
//
// A deadline that has passed is a 504 wherever it was noticed.
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
