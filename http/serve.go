package http

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime/debug"
	"sync"

	"github.com/valyala/fasthttp"
)

var fasthttpContexts = sync.Pool{New: func() any { return new(fasthttp.RequestCtx) }}

// serveConn serves one connection until its end, or until a watch has taken it over.
func (s *Server) serveConn(c *conn) {
	defer s.endConn(c)
	if c.Handshake() != nil {
		return
	}
	for s.serveRequest(c) {
	}
}

// endConn closes a connection, or gives it away. A panic ends nothing but the connection.
func (s *Server) endConn(c *conn) {
	if fault := recover(); fault != nil {
		s.log.Error("http: panic while serving a connection", "panic", fmt.Sprint(fault), "stack", string(debug.Stack()))
		c.hijacker = nil
	}
	if take := c.hijacker; take != nil {
		c.hijacker = nil
		if r := c.reader; r != nil && r.Buffered() > 0 {
			b, _ := r.Peek(r.Buffered())
			c.unread = bytes.Clone(b)
		}
		c.releaseReader(true)
		if c.setPhase(phaseWatching, 0) == nil { // else it is closed, which who takes it notices
			c.markRequestSeen()
		}
		go take(c) // on a small stack
		return
	}
	_ = c.Close() // nobody is left to tell
	c.releaseReader(true)
	c.body.release(s)
}

// markRequestSeen notes that the client has sent a whole request, or is somebody who is known.
func (c *conn) markRequestSeen() {
	if !c.requestSeen {
		c.requestSeen = true
		c.server.connections.markRequestSeen(c, c.authenticated.Load())
	}
}

// serveRequest serves one request; true: there may be another one.
func (s *Server) serveRequest(c *conn) bool {
	if c.awaitRequest() != nil {
		return false // there is nothing to be answered
	}
	ctx := fasthttpContexts.Get().(*fasthttp.RequestCtx)
	ctx.Init2(c, quietLogger{s.log}, true)
	ctx.Response.Header.SetNoDefaultContentType(true)
	defer func() {
		ctx.Request.Reset()
		ctx.Response.Reset()
		fasthttpContexts.Put(ctx)
	}()
	if err := c.readHead(&ctx.Request.Header); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) {
			return false
		}
		s.writeHeadError(ctx, err)
		c.linger.Store(!s.isClosing())
		_ = c.writeResponse(ctx) // there is no more to be done
		return false
	}
	return s.respond(c, ctx)
}

// respond answers a request of which the head is read.
func (s *Server) respond(c *conn, ctx *fasthttp.RequestCtx) bool {
	h, in := &ctx.Request.Header, &c.body
	last, old := h.ConnectionClose(), !h.IsHTTP11()
	if in.start(h); in.done {
		c.markRequestSeen()
		c.releaseReader(false)
	}
	if c.setPhase(phaseActive, 0) != nil {
		return false
	}
	s.handle(ctx)
	if c.hijacker != nil {
		in.release(s)
		return false
	}
	last = last || ctx.Response.ConnectionClose() || !in.canDiscard()
	c.linger.Store(last) // nobody knows what is on its way
	last = last || s.isClosing()
	switch {
	case last:
		ctx.Response.SetConnectionClose()
	case old:
		ctx.Response.Header.Set("Connection", "keep-alive")
	}
	ctx.Response.SkipBody = ctx.IsHead()
	if c.writeResponse(ctx) != nil {
		c.linger.Store(false)
		return false
	}
	if last || c.discardBody() != nil {
		return false
	}
	in.release(s)
	c.releaseReader(false)
	return true
}

// isClosing tells that nobody new is let in.
func (s *Server) isClosing() bool {
	select {
	case <-s.closing:
		return true
	default:
		return false
	}
}
