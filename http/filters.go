package http

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authz"
	"github.com/valyala/fasthttp"
)

// handle is the way of every request: it gets exactly one answer, whatever happens.
func (s *Server) handle(ctx *fasthttp.RequestCtx) {
	x := newExchange(ctx)
	defer x.release()
	defer s.finish(x)
	defer s.recover(x)
	s.answer(x, s.filter(x))
}

// recover turns a panic into an answer and a line in the log.
func (s *Server) recover(x *exchange) {
	fault := recover()
	if fault == nil {
		return
	}
	id := uuid.NewString()
	s.log.Error("http: panic while answering", "id", id, "method", x.method, "path", x.info.Path,
		"panic", fmt.Sprint(fault), "stack", string(debug.Stack()))
	if !x.hijacked {
		x.ctx.Response.Reset()
		s.answer(x, internalError(id))
	}
}

// filter runs the filters in reading order and then the handler.
func (s *Server) filter(x *exchange) error {
	s.stamp(x)
	if err := s.parse(x); err != nil {
		return err
	}
	limiter := s.limiters.of(x)
	if !limiter.enter() {
		return tooManyRequests()
	}
	defer limiter.leave()
	if err := s.deadline(x); err != nil {
		return err
	}
	if err := s.authenticate(x); err != nil {
		return err
	}
	if err := s.authorize(x); err != nil {
		return err
	}
	return s.route(x)
}

// stamp gives the answer its common headers.
func (s *Server) stamp(x *exchange) {
	id := uuid.New()
	encodeUUID(&x.id, id)
	h := &x.ctx.Response.Header
	h.SetBytesV("Audit-Id", x.id[:])
	h.Set("Cache-Control", "no-cache, private")
}

func encodeUUID(dst *[36]byte, id uuid.UUID) {
	text, err := id.MarshalText()
	if err == nil {
		copy(dst[:], text)
	}
}

// parse makes the Info of a request that is well formed. One that is not is answered
// and its connection closed.
func (s *Server) parse(x *exchange) error {
	h := &x.ctx.Request.Header
	err := strict(h)
	if err == nil {
		err = x.target.parse(h.RequestURI(), h.Host())
	}
	if err == nil && !query(x.target.query).valid() {
		err = badRequest("the query holds a bad escape")
	}
	if err != nil {
		x.ctx.SetConnectionClose()
		return err
	}
	x.query = query(x.target.query)
	x.info.parse(x.method, &x.target, x.query.flag("watch"))
	x.format.pretty = x.query.flag("pretty")
	return nil
}

// deadline bounds everything but watches.
func (s *Server) deadline(x *exchange) error {
	timeout := s.opts.Limits.RequestTimeout
	if text := x.query.get("timeout"); text != "" {
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

var bearer = []byte("bearer ")

// authenticate finds out who asks.
func (s *Server) authenticate(x *exchange) error {
	var r authn.Request
	header := x.ctx.Request.Header.Peek("Authorization")
	if header != nil {
		r.HasToken = true
		if len(header) >= len(bearer) && bytes.EqualFold(header[:len(bearer)], bearer) {
			r.Token = strings.TrimSpace(string(header[len(bearer):]))
		}
	}
	if c, ok := x.ctx.Conn().(*conn); ok {
		r.Certs = c.certs
	}
	user, err := s.opts.Authenticator.Authenticate(r)
	if err != nil || user == nil {
		if err != nil {
			s.log.Info("http: authentication failed", "error", err, "audit", string(x.id[:]))
		}
		return unauthorized()
	}
	x.user = user
	return nil
}

// authorize finds out whether the user may do it.
func (s *Server) authorize(x *exchange) error {
	i := &x.info
	a := authz.Attributes{
		User: x.user, Verb: i.Verb, ResourceRequest: i.IsResource, Path: i.Path,
		Group: i.Group, Version: i.Version, Resource: i.Resource, Subresource: i.Subresource,
		Namespace: i.Namespace, Name: i.Name,
	}
	if i.IsResource && i.Verb == "" {
		return methodNotAllowed()
	}
	decision, reason := s.opts.Authorizer.Authorize(a)
	if decision == authz.Allow {
		return nil
	}
	f := &meta.Status{Code: 403, Reason: meta.ReasonForbidden, Message: a.Refusal(reason), Details: &meta.Details{}}
	if i.IsResource {
		f.Details.Group, f.Details.Kind, f.Details.Name = i.Group, i.Resource, i.Name
	}
	return f
}

// A limiter bounds how many requests of one sort are in flight.
type limiter struct {
	kind    string // label of its metric
	limit   int64  // 0: none
	current atomic.Int64
}

func (l *limiter) enter() bool {
	if n := l.current.Add(1); l.limit > 0 && n > l.limit {
		l.current.Add(-1)
		return false
	}
	return true
}

func (l *limiter) leave() { l.current.Add(-1) }

// limiters hold the sorts. Health paths have none: they must answer under overload.
type limiters struct{ reading, mutating, health limiter }

func (l *limiters) init(o Limits) {
	l.reading.kind, l.reading.limit = "readOnly", int64(o.MaxRequestsInFlight)
	l.mutating.kind, l.mutating.limit = "mutating", int64(o.MaxMutatingRequestsInFlight)
}

func (l *limiters) of(x *exchange) *limiter {
	switch {
	case !x.info.IsResource && isHealth(x.info.Path), x.info.Verb == "watch":
		return &l.health
	case x.method == "GET" || x.method == "HEAD":
		return &l.reading
	}
	return &l.mutating
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
	id := uuid.NewString()
	s.log.Error("http: internal error", "id", id, "path", x.info.Path, "error", err)
	return internalError(id)
}
