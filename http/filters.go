package http

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/valyala/fasthttp"
)

// handle is the way of every request: it gets exactly one answer, whatever happens.
func (s *Server) handle(ctx *fasthttp.RequestCtx) {
	x := newExchange(ctx)
	defer x.release()
	defer s.finish(x)
	defer s.recorded(x)
	defer s.recover(x)
	s.answer(x, s.filter(x))
}

// recover turns a panic into an answer and a line in the log.
func (s *Server) recover(x *exchange) {
	fault := recover()
	if fault == nil {
		return
	}
	id := newID()
	s.log.Error("http: panic while answering", "id", id, "method", x.method, "path", x.info.Path,
		"panic", fmt.Sprint(fault), "stack", string(debug.Stack()))
	x.panicked = true
	if !x.hijacked {
		x.ctx.Response.Reset()
		s.stampHead(x)
		s.answer(x, internalError(id))
	}
}

// filter runs the filters in reading order and then the handler.
func (s *Server) filter(x *exchange) error {
	err := x.look()
	s.stamp(x)
	if err == nil {
		err = x.parse()
	}
	if err != nil {
		return x.malformed(err)
	}
	if s.share(x) {
		return nil
	}
	if err := s.deadline(x); err != nil {
		return err
	}
	if err := s.authenticate(x); err != nil {
		return err
	}
	if err := s.record(x); err != nil {
		return err
	}
	if err := s.checkOrigin(x); err != nil {
		return err
	}
	if err := s.impersonate(x); err != nil {
		return err
	}
	if err := s.limit(x); err != nil {
		return err
	}
	defer x.hold.release() // but for what a stream has taken over
	if err := s.authorize(x); err != nil {
		return err
	}
	return s.route(x)
}

// look checks the form of the request and notes which headers it has.
func (x *exchange) look() (err error) {
	if x.heading, err = strict(&x.ctx.Request.Header); x.heading.last {
		x.ctx.SetConnectionClose()
	}
	return err
}

// stamp gives the request its id, by which it is audited, and which a client may bring.
func (s *Server) stamp(x *exchange) {
	if x.heading.stamped {
		x.id = string(x.ctx.Request.Header.Peek("Audit-Id"))
	}
	if x.id == "" {
		x.id = newID()
	}
	s.stampHead(x)
}

var (
	headerAuditID      = []byte("Audit-Id")
	headerCacheControl = []byte("Cache-Control")
	noCache            = []byte("no-cache, private")
)

// stampHead gives the answer its common headers.
func (s *Server) stampHead(x *exchange) {
	h := &x.ctx.Response.Header
	x.text = append(x.text[:0], x.id...)
	h.SetCanonical(headerAuditID, x.text)
	h.SetCanonical(headerCacheControl, noCache)
	s.secure(h)
}

// parse makes the Info of a request whose form is right.
func (x *exchange) parse() error {
	h := &x.ctx.Request.Header
	if err := x.target.parse(h.RequestURI(), h.Host()); err != nil {
		return err
	}
	x.query = query(x.target.query)
	if !x.query.valid() {
		return badRequest("the query holds a bad escape")
	}
	x.info.parse(x.method, &x.target, x.query.flag("watch"))
	x.format.pretty = x.pretty()
	return nil
}

// malformed is the answer to a request that is not well formed: its connection is closed.
func (x *exchange) malformed(err error) error {
	x.ctx.SetConnectionClose()
	return err
}

// deadline bounds everything but watches, which have a parameter of their own.
func (s *Server) deadline(x *exchange) error {
	timeout := s.opts.Limits.RequestTimeout
	if text := x.query.get("timeout"); text != "" && x.info.Verb != "watch" {
		d, err := time.ParseDuration(text)
		if err != nil || d < 0 {
			return badRequest("invalid timeout specified in the request URL")
		}
		if d > 0 {
			timeout = min(timeout, d)
		}
	}
	x.wait = &patience{deadline: x.start.Add(timeout)}
	return nil
}

// asStatus is the Status for what a handler or the store has returned. Errors that are
// none are not for clients: they are logged.
func (s *Server) asStatus(x *exchange, err error) *meta.Status {
	var status *meta.Status
	switch {
	case errors.As(err, &status):
		return status
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return timedOut()
	}
	id := newID()
	s.log.Error("http: internal error", "id", id, "path", x.info.Path, "error", err)
	return internalError(id)
}
