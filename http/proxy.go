package http

import (
	"context"
	"fmt"
	"net"
	"runtime/debug"

	"github.com/troupe-api/troupe/http/internal/apierrors"
	"github.com/troupe-api/troupe/http/internal/limits"
	"github.com/troupe-api/troupe/http/internal/proxy"
	"github.com/troupe-api/troupe/http/internal/stream"
	"github.com/valyala/fasthttp"
)

// proxy forwards a request to another server and its response to the client. If it returns nil, the
// response is complete, or a Tunnel has taken over the connection.
//
// Long-running requests and upgrades are registered like watches. They have no deadline, end when
// the user is no longer authorized, and do not count as in flight while they run.
func (s *Server) proxy(x *requestContext, t *proxy.Target) error {
	r, err := s.proxyRequest(x)
	if err != nil {
		return err
	}
	x.conn.Pause() // long-running requests have another context
	if !x.outlasts() {
		_, err := proxy.New(x.deadlineCtx, x.conn.Conn, r, t).Run(x.startAnswer)
		return err
	}
	e := proxy.New(context.Background(), x.conn.Conn, r, t)
	if err := s.beginProxied(x, e); err != nil {
		return err
	}
	defer func() {
		if x.state != stateHijacked {
			s.watches.Remove(e)
		}
	}()
	result, err := e.Run(x.startLongAnswer)
	switch {
	case result.Tunnel != nil:
		s.hijackTunnel(x, e, result.Tunnel)
	case err != nil:
		x.conn.SetWriteTimeout(0) // the response is a Status
	}
	return err
}

// outlasts reports whether the request has no deadline because it is long-running or an upgrade.
func (x *requestContext) outlasts() bool {
	return x.info.LongRunning() || x.headerFlags.Upgrade && proxy.UpgradeOf(&x.ctx.Request.Header) != ""
}

func (s *Server) proxyRequest(x *requestContext) (proxy.Request, error) {
	h := &x.ctx.Request.Header
	r := proxy.Request{Method: x.info.Method, Head: h, Headers: x.headers.All(), Answer: &x.ctx.Response.Header}
	if remote, ok := x.ctx.RemoteAddr().(*net.TCPAddr); ok {
		r.ClientAddr = remote.AddrPort().Addr().Unmap()
	}
	if !x.headerFlags.Upgrade || !stream.WantsWebSocket(h) {
		return r, nil
	}
	protocols, _, err := stream.WebSocketProtocols(h, s.names.BearerProtocol)
	if err != nil {
		return r, apierrors.BadRequest(err.Error())
	}
	r.Protocols = protocols
	return r, nil
}

func (x *requestContext) startAnswer(code int) {
	x.state = stateForwarded
	x.ctx.SetStatusCode(code)
}

func (x *requestContext) startLongAnswer(code int) {
	x.startAnswer(code)
	if code != fasthttp.StatusSwitchingProtocols {
		x.auditStarted(code)
	}
}

func (s *Server) hijackTunnel(x *requestContext, e *proxy.Exchange, t *proxy.Tunnel) {
	x.state = stateHijacked
	recordEnd := x.auditWatch(fasthttp.StatusSwitchingProtocols)
	held := x.permit.Split(limits.Upgrades)
	x.conn.Hijack(func() {
		defer s.recoverTunnelPanic()
		t.Run(func() {
			recordEnd()
			held.Release()
			s.watches.Remove(e)
		})
	})
}

// beginProxied registers a long-running exchange, subject to the limit on upgrades. The request
// then no longer counts as in flight.
func (s *Server) beginProxied(x *requestContext, e *proxy.Exchange) error {
	if err := x.permit.TryAcquire(limits.Upgrades, 1); err != nil {
		return tooManyRequests(err)
	}
	if !s.watches.Add(e, s.newGrant(x)) {
		return apierrors.ShuttingDown()
	}
	x.permit.ReleaseTurn()
	x.permit.ReleaseBeyond(limits.Watches, 0) // counted as an upgrade
	x.conn.SetWriteTimeout(proxy.StreamTimeout)
	return nil
}

// recoverTunnelPanic keeps the process running after a panic in a tunnel, which has already closed
// both connections.
func (s *Server) recoverTunnelPanic() {
	if fault := recover(); fault != nil {
		s.log.Error("panic in a tunnel", "panic", fmt.Sprint(fault), "stack", string(debug.Stack()))
	}
}
