package proxy

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/troupe-api/troupe/http/internal/wire"
	"github.com/troupe-api/troupe/kinds/meta"
)

// An Exchange is a request and its response. It ends early when the client disconnects, at the
// deadline of its context, on shutdown, or when its permission is revoked.
type Exchange struct {
	conn    *wire.Conn
	request Request
	target  *Target

	ctx    context.Context
	cancel context.CancelCauseFunc
}

// StreamTimeout limits one write of a proxied response or to an upgraded connection.
const StreamTimeout = 15 * time.Minute

// stopGrace is how long a request may continue during shutdown.
const stopGrace = time.Second

var (
	errStopped    = errors.New("the server is shutting down")
	errClientGone = errors.New("the client disconnected")
	errUnasked    = errors.New("the backend switched protocols without a request to do so")
)

// New returns an Exchange for r. The Exchange and its Tunnel end when ctx ends.
func New(ctx context.Context, conn *wire.Conn, r Request, t *Target) *Exchange {
	e := &Exchange{conn: conn, request: r, target: t}
	e.ctx, e.cancel = context.WithCancelCause(ctx)
	return e
}

// Stop cancels the request after stopGrace.
func (e *Exchange) Stop() {
	time.AfterFunc(stopGrace, func() { e.cancel(errStopped) })
}

// Revoke cancels the request. A response that has begun is cut off, because it is too late for a
// Status.
func (e *Exchange) Revoke(refusal *meta.Status) { e.cancel(refusal) }

// ForceClose cancels the request without a grace period.
func (e *Exchange) ForceClose() { e.cancel(errStopped) }

// A Result describes the response. The zero value means that nothing was written.
type Result struct {
	// Code is the HTTP status code.
	Code int
	// Tunnel is set if the connection is being upgraded. The caller must hijack the connection and
	// then call its Run.
	Tunnel *Tunnel
}

// Run forwards the request. It calls started with the status code when the response begins. If Run
// returns an error, it has written nothing. The caller must then send the error if it is a
// *meta.Status, and otherwise close the connection.
func (e *Exchange) Run(started func(code int)) (Result, error) {
	body := e.conn.StreamBody(func() { e.cancel(errClientGone) })
	defer body.Stop()
	if upgrade := UpgradeOf(e.request.Head); upgrade != "" && !e.target.IgnoreUpgrade {
		return e.upgrade(body, upgrade, started)
	}
	defer e.cancel(nil)
	if e.target.UpgradeRequired {
		return Result{}, &meta.Status{Code: http.StatusBadRequest, Reason: meta.ReasonBadRequest, Message: "Upgrade request required"}
	}
	resp, err := e.target.Backend.RoundTrip(e.newRequest(body, ""))
	if err != nil {
		return Result{}, e.fault(err, e.target.Fault, unreachable)
	}
	defer func() { _ = resp.Body.Close() }() // unread data is not needed
	if resp.StatusCode == http.StatusSwitchingProtocols {
		return Result{}, e.fault(errUnasked, e.target.Fault, unreachable)
	}
	return e.answer(body, resp, started)
}

func (e *Exchange) newRequest(body *wire.BodyStream, upgrade string) *http.Request {
	t, u := e.target, *e.target.URL
	r := &http.Request{
		Method: e.request.Method, URL: &u, Host: string(e.request.Head.Host()), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: e.request.header(t, upgrade), Body: http.NoBody,
	}
	if t.UseHost {
		r.Host = u.Host
	}
	switch n := e.request.Head.ContentLength(); {
	case n > 0:
		r.Body, r.ContentLength = body, int64(n)
	case n == -1:
		r.Body, r.ContentLength = body, -1
	}
	return r.WithContext(e.ctx)
}

// fault returns the error response for a failed backend request. If the Exchange was ended, it
// returns the reason, for example a shutdown. Otherwise it returns a *meta.Status in err unchanged,
// and converts other errors with own, or with otherwise if own is nil.
func (e *Exchange) fault(err error, own, otherwise func(error) error) error {
	cause := context.Cause(e.ctx)
	var refusal *meta.Status
	switch {
	case errors.As(cause, &refusal):
		return refusal
	case errors.Is(cause, errStopped):
		return unavailable("the server is shutting down")
	case errors.Is(cause, context.DeadlineExceeded):
		return cause
	case errors.As(err, &refusal):
		return refusal
	case own != nil:
		return own(err)
	}
	return otherwise(err)
}

func unreachable(err error) error {
	return unavailable(fmt.Sprintf("error trying to reach service: %v", err))
}

func unavailable(message string) *meta.Status {
	return &meta.Status{Code: http.StatusServiceUnavailable, Reason: meta.ReasonServiceUnavailable, Message: message}
}

func internal(err error) error {
	return &meta.Status{Code: http.StatusInternalServerError, Message: err.Error()}
}
