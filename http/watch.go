package http

import (
	"math/rand/v2"
	"time"

	"github.com/troupe-api/troupe/http/internal/apierrors"
	"github.com/troupe-api/troupe/http/internal/deadline"
	"github.com/troupe-api/troupe/http/internal/limits"
	"github.com/troupe-api/troupe/http/internal/represent"
	"github.com/troupe-api/troupe/http/internal/stream"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/valyala/fasthttp"
)

// watch starts a store session and hands the connection to the watch. Errors of the store, such as
// an expired version, become ERROR events, because clients would retry a plain 410 forever.
//
// The watch is registered before the store is called, so that a shutdown or a change of permissions
// during the call ends the watch.
func (s *Server) watch(x *requestContext) error {
	o, err := s.parseList(x)
	if err != nil {
		return err
	}
	r, err := o.WatchRequest(x.kind, &x.info, s.opts.Store.Version)
	if err != nil {
		return err
	}
	if name := x.info.Name; name != "" {
		if r.Fields, err = o.SelectName(x.kind, name); err != nil {
			return err
		}
	}
	events, err := s.encoder.Events(x.bodyKind, x.format, x.target.Query)
	if err != nil {
		return err
	}
	framing := stream.FramingOf(&x.ctx.Request.Header)
	head, err := s.watchHead(x, events, framing)
	if err != nil {
		return err
	}
	w := stream.New(x.conn, events, framing)
	if r.SendInitialEvents {
		s.holdSeats(x, w)
	}
	if !s.watches.Add(w, s.newGrant(x)) {
		return apierrors.ShuttingDown()
	}
	defer func() {
		if x.state != stateHijacked {
			s.watches.Remove(w)
			w.InitialDone()
		}
	}()
	timeout := s.watchTimeout(o.Timeout)
	until := deadline.After(x.start, max(timeout, time.Second), nil) // limits its start too
	defer until.Stop()
	sink, err := x.faultyWatch(w)
	var session request.Session
	if err == nil {
		session, err = s.opts.Store.Watch(until, r, sink)
	}
	if err == nil {
		w.Attach(session)
	} else {
		status := s.asStatus(x, err)
		w.Fail(status)
		x.ctx.SetStatusCode(status.Code) // for the metrics; the head has 200
	}
	s.hijack(x, w, timeout)
	w.Start(head)
	return nil
}

// holdSeats makes a watch hold its seats until the initial events are sent, because they cost as
// much as a list.
func (s *Server) holdSeats(x *requestContext, w *stream.Watch) {
	if seats := x.permit.TakeSeats(); seats != nil {
		w.OnInitialDone(limits.LimitSeats(seats, maxSeatsOfStream).Finish)
	}
}

// watchTimeout returns the duration of a watch for a requested timeout. The default for 0 is partly
// random, so that watches that start together do not end together. A negative timeout ends the
// watch immediately.
func (s *Server) watchTimeout(asked time.Duration) time.Duration {
	least := s.opts.Limits.MinRequestTimeout
	if asked != 0 {
		return min(asked, 2*least)
	}
	return least + rand.N(least)
}

// hijack hands the connection to the watch. The server may then end the watch to free capacity,
// unless its user is privileged. A separate goroutine reads further client input.
func (s *Server) hijack(x *requestContext, w *stream.Watch, timeout time.Duration) {
	x.state = stateHijacked
	held, withdraw := x.permit.Split(limits.Watches), func() {}
	if !held.Reserved {
		withdraw = held.Principal.Offer(limits.Watches, w)
	}
	code := fasthttp.StatusOK
	if stream.WantsWebSocket(&x.ctx.Request.Header) {
		code = fasthttp.StatusSwitchingProtocols
	}
	recordEnd := x.auditWatch(code)
	forget := s.countWatch(x)
	x.conn.SetOnClose(w.Stop)
	x.conn.Hijack(func() {
		w.Run(timeout, func() {
			withdraw()
			held.Release()
			forget()
			recordEnd()
			s.watches.Remove(w)
		})
	})
}

// countWatch counts an open watch in flow control until forget is called, because each open watch
// increases the seats that a write needs.
func (s *Server) countWatch(x *requestContext) (forget func()) {
	if s.opts.FlowControl == nil {
		return func() {}
	}
	return s.opts.FlowControl.Watches.Add(&x.attributes)
}

// watchHead returns the head of a watch response: the common headers and Connection: close, because
// the client must not send another request on this connection. The headers are copied, because the
// response may still become an error.
func (s *Server) watchHead(x *requestContext, events *represent.Events, framing stream.Framing) ([]byte, error) {
	var h fasthttp.ResponseHeader
	x.ctx.Response.Header.CopyTo(&h)
	switch framing {
	case stream.WebSocket:
		if err := stream.UpgradeToWebSocket(&x.ctx.Request.Header, &h, s.names.BearerProtocol); err != nil {
			if supported := h.Peek("Sec-WebSocket-Version"); len(supported) > 0 {
				x.ctx.Response.Header.SetBytesV("Sec-WebSocket-Version", supported)
			}
			return nil, err
		}
		return h.Header(), nil
	case stream.Chunked:
		h.SetContentLength(-1)
	}
	h.SetContentType(events.ContentType())
	h.SetConnectionClose()
	return h.Header(), nil
}
