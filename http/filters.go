package http

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/selector"
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
	if err := s.deadline(x); err != nil {
		return err
	}
	if err := s.authenticate(x); err != nil {
		return err
	}
	limiter, err := s.limit(x)
	if err != nil {
		return err
	}
	defer limiter.leave()
	if err := s.authorize(x); err != nil {
		return err
	}
	return s.route(x)
}

// stamp gives the answer its common headers. A client may bring the id by which the request
// is audited.
func (s *Server) stamp(x *exchange) {
	x.id = string(x.ctx.Request.Header.Peek("Audit-Id"))
	if x.id == "" {
		x.id = uuid.NewString()
	}
	h := &x.ctx.Response.Header
	h.Set("Audit-Id", x.id)
	h.Set("Cache-Control", "no-cache, private")
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
	x.format.pretty = x.pretty()
	return nil
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

var bearer = []byte("bearer ")

// authenticate finds out who asks.
func (s *Server) authenticate(x *exchange) error {
	r := authn.Request{Headers: headers{&x.ctx.Request.Header}}
	header := x.ctx.Request.Header.Peek("Authorization")
	if header != nil {
		r.HasToken = true
		if len(header) >= len(bearer) && bytes.EqualFold(header[:len(bearer)], bearer) {
			r.Token = strings.TrimSpace(string(header[len(bearer):]))
		}
	}
	if header == nil && wantsSocket(&x.ctx.Request.Header) {
		_, token, err := s.socketProtocols(&x.ctx.Request.Header)
		if errors.Is(err, errSocketToken) {
			return unauthorized()
		}
		r.Token, r.HasToken = token, token != ""
	}
	if c, ok := x.ctx.Conn().(*conn); ok {
		r.Certs = c.certs
	}
	user, err := s.opts.Authenticator.Authenticate(r)
	if err != nil || user == nil {
		if err != nil {
			s.log.Info("http: authentication failed", "error", err, "audit", x.id)
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
	if a.Name == "" {
		a.Name = s.selectedName(x)
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

// selectedName is the one name to which the field selector of a list or a watch confines
// it, so that whoever may read that object may read it this way as well.
func (s *Server) selectedName(x *exchange) string {
	i := &x.info
	text := x.query.get("fieldSelector")
	if text == "" || i.Verb != "list" && i.Verb != "watch" {
		return ""
	}
	kind := s.opts.Catalog.Kind(i.Group, i.Version, i.Resource)
	if kind == nil {
		return ""
	}
	fields, err := selector.ParseFields(kind, text)
	name, ok := fields.Name()
	if err != nil || !ok || name == "." || name == ".." || strings.ContainsAny(name, "/%") {
		return ""
	}
	return name
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
