package http

import (
	"math/rand/v2"
	"time"

	"github.com/troupe-api/troupe/http/internal/apierrors"
	"github.com/troupe-api/troupe/http/internal/stream"
	"github.com/valyala/fasthttp"
)

// watch starts a session of the store and hands the connection over to it. What is known
// to be wrong before the first event is answered like any other error.
func (s *Server) watch(x *requestContext) error {
	o, err := s.parseListOptions(x.kind, x.query, true)
	if err != nil {
		return err
	}
	r, err := o.watchRequest(x.kind, &x.info, s.opts.Store.Version)
	if err != nil {
		return err
	}
	if name := x.info.Name; name != "" {
		selected, ok := o.fields.Name()
		switch {
		case o.fields.Empty():
			r.Fields, err = nameSelector(x.kind, name)
		case !ok || selected != name:
			err = apierrors.BadRequest("fieldSelector metadata.name doesn't match requested name")
		}
		if err != nil {
			return err
		}
	}
	events, err := s.newEventEncoder(x)
	if err != nil {
		return err
	}
	framing := stream.FramingOf(&x.ctx.Request.Header)
	head, err := s.watchHead(x, events, framing)
	if err != nil {
		return err
	}
	w := stream.New(x.conn, events, framing)
	if !s.watches.Add(w, s.newWatchGrant(x)) {
		return apierrors.ShuttingDown()
	}
	defer func() {
		if !x.hijacked {
			s.watches.Remove(w)
		}
	}()
	timeout := s.watchTimeout(o.timeout)
	deadline := &lazyDeadline{deadline: x.start.Add(timeout)}
	defer deadline.stop()
	session, err := s.opts.Store.Watch(deadline, r, w)
	if err != nil {
		return err
	}
	w.Attach(session)
	s.hijack(x, w, timeout)
	w.Start(head)
	return nil
}

// watchTimeout is the life of a watch: what is asked for, but no more than what one may get that asks
// for nothing.
func (s *Server) watchTimeout(asked time.Duration) time.Duration {
	least := s.opts.Limits.MinRequestTimeout
	if asked > 0 {
		return min(asked, 2*least)
	}
	return least + rand.N(least)
}

// hijack gives the connection to the watch: when the handler has returned, what it still reads from the
// client gets a goroutine of its own.
func (s *Server) hijack(x *requestContext, w *stream.Watch, timeout time.Duration) {
	x.hijacked = true
	s.limiters.openWatches.Add(1)
	code := fasthttp.StatusOK
	if stream.WantsWebSocket(&x.ctx.Request.Header) {
		code = fasthttp.StatusSwitchingProtocols
	}
	recordEnd := x.auditWatch(code)
	x.conn.SetOnClose(w.Stop)
	x.conn.Hijack(func() {
		w.Run(timeout, func() {
			s.limiters.openWatches.Add(-1)
			recordEnd()
			s.watches.Remove(w)
		})
	})
}

// watchHead is the head of the answer to a watch: the common headers of every answer, and those of a
// stream. The connection ends with the watch, and a client that were not told would send its next
// request into it. It is made of a copy, for the answer may yet become an error.
func (s *Server) watchHead(x *requestContext, events *eventEncoder, framing stream.Framing) ([]byte, error) {
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
	h.SetContentType(events.contentType())
	h.SetConnectionClose()
	return h.Header(), nil
}
