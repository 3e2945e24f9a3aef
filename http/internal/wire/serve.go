package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"runtime/debug"
	"sync"

	"github.com/valyala/fasthttp"
)

var fasthttpContexts = sync.Pool{New: func() any { return new(fasthttp.RequestCtx) }}

func (c *Conn) serve() {
	defer c.end()
	c.scheduled = true
	if c.handshake() != nil {
		return
	}
	if c.all.http2 != nil && c.tls != nil && c.tls.ConnectionState().NegotiatedProtocol == protocolHTTP2 {
		c.serveHTTP2()
		return
	}
	for c.serveRequest() {
	}
}

func (c *Conn) serveStream() bool {
	c.reuse = false
	defer c.end()
	c.scheduled = true
	c.reuse = c.serveRequest()
	return c.reuse
}

// end closes the connection or passes it to the function that has hijacked it. A panic in that
// function closes only this connection.
func (c *Conn) end() {
	if c.reuse {
		c.Pause()
		return
	}
	c.endTurn()
	c.scheduled = false
	if fault := recover(); fault != nil {
		c.all.opts.Log.Error("panic while serving a connection", "panic", fmt.Sprint(fault), "stack", string(debug.Stack()))
		c.hijacker = nil
	}
	if run := c.hijacker; run != nil {
		c.hijacker = nil
		if r := c.reader; r != nil && r.Buffered() > 0 {
			b, _ := r.Peek(r.Buffered())
			c.unread = bytes.Clone(b)
		}
		c.releaseReader(true)
		if c.setPhase(phaseHijacked, 0) == nil { // else closed, which run notices
			c.markRequestSeen()
		}
		go run() // on a small stack
		return
	}
	_ = c.Close() // nothing is left to do on error
	c.releaseReader(true)
	c.body.release()
}

func (c *Conn) endTurn() {
	c.all.scheduler.leave(c)
	if c.stream != nil {
		c.setKnown() // its slot was acquired from the principal
	}
	c.setPrincipal(nil)
}

func (c *Conn) markRequestSeen() {
	if !c.requestSeen {
		c.requestSeen = true
		c.all.markRequestSeen(c, c.authenticated.Load())
	}
}

// serveRequest serves one request and reports whether the connection stays open for another.
func (c *Conn) serveRequest() bool {
	if c.awaitRequest() != nil {
		return false // nothing to respond to
	}
	ctx := fasthttpContexts.Get().(*fasthttp.RequestCtx)
	ctx.Init2(c, debugLogger{c.all.opts.Log}, true)
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
		c.handler.RejectHead(ctx, err)
		ctx.SetConnectionClose()
		c.linger.Store(!c.all.isClosing())
		_ = c.writeResponse(ctx) // the connection closes anyway
		return false
	}
	return c.respond(ctx)
}

// respond handles a request whose head was read. It reports whether the connection stays open.
func (c *Conn) respond(ctx *fasthttp.RequestCtx) bool {
	h, in := &ctx.Request.Header, &c.body
	last, old := h.ConnectionClose(), !h.IsHTTP11()
	if in.start(h); in.done {
		c.markRequestSeen()
		c.releaseReader(false)
	}
	if c.setPhase(phaseActive, 0) != nil {
		return false
	}
	c.scheduled = false
	c.handler.ServeRequest(ctx)
	c.scheduled = c.hijacker == nil
	if c.hijacker != nil {
		in.release()
		return false
	}
	if c.answered != answeredNot {
		return c.endAnswered()
	}
	last = last || ctx.Response.ConnectionClose() || in.framingLost || !in.done && !c.canDiscard()
	c.linger.Store(last && !c.excess) // more of the request may still arrive
	last = last || c.all.ending.Load()
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
	if last || !in.done && c.discardBody() != nil {
		return false
	}
	if in.buf != nil {
		in.release()
	}
	c.releaseReader(false)
	return true
}

// endAnswered ends a request whose handler has written the response. It reports whether the
// connection stays open.
func (c *Conn) endAnswered() bool {
	how, whole := c.answered, c.body.done
	c.answered = answeredNot
	c.SetWriteTimeout(0)
	switch {
	case how == answeredPart:
		c.abort()
		return false
	case how == answeredLast || !whole:
		c.linger.Store(true) // the client may still be sending
		return false
	}
	c.body.release()
	c.releaseReader(false)
	return true
}

type debugLogger struct{ log *slog.Logger }

// Printf logs at debug level, because operators need not act on a disconnect.
func (l debugLogger) Printf(format string, args ...any) {
	l.log.Debug("connection", "format", format, "args", args)
}
