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

// An Exchange is one request and its answer. It ends with the request, or earlier: with its client, with the
// deadline of its context, by a shutdown, or with the right by which it runs.
type Exchange struct {
	conn    *wire.Conn
	request Request
	target  *Target

	ctx    context.Context
	cancel context.CancelCauseFunc
}

// StreamTimeout is how long either side may take for each piece of what has no deadline.
const StreamTimeout = 15 * time.Minute

// stopGrace is the time that a plain request gets when the server shuts down.
const stopGrace = time.Second

var (
	errStopped    = errors.New("the server is shutting down")
	errClientGone = errors.New("the client has gone")
	errUnasked    = errors.New("the backend has changed the protocol without being asked to")
)

// New makes an Exchange. It ends with ctx, and so does a tunnel that it becomes.
func New(ctx context.Context, conn *wire.Conn, r Request, t *Target) *Exchange {
	e := &Exchange{conn: conn, request: r, target: t}
	e.ctx, e.cancel = context.WithCancelCause(ctx)
	return e
}

// Stop implements stream.LongRunning.
func (e *Exchange) Stop() {
	time.AfterFunc(stopGrace, func() { e.cancel(errStopped) })
}

// Revoke implements stream.LongRunning. What is under way is cut: there is no place for a Status in it.
func (e *Exchange) Revoke(refusal *meta.Status) { e.cancel(refusal) }

// ForceClose implements stream.LongRunning.
func (e *Exchange) ForceClose() { e.cancel(errStopped) }

// Result is how a request was answered. The zero value says that nothing was written yet.
type Result struct {
	// Code is that of the answer.
	Code int
	// Tunnel is set where the connection has been upgraded: its Run goes on when the connection has been taken
	// over from the server.
	Tunnel *Tunnel
}

// Run answers the request. With an error nothing has been written, and the error is the answer; it is a *meta.Status or
// ends the connection. started is called with the code when the answer begins.
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
	defer func() { _ = resp.Body.Close() }() // what has not been read is of no use
	if resp.StatusCode == http.StatusSwitchingProtocols {
		return Result{}, e.fault(errUnasked, e.target.Fault, unreachable)
	}
	return e.answer(body, resp, started)
}

// newRequest is the request to the backend.
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

// fault is the answer to an error of the backend: what has ended the Exchange, if that is why it failed.
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

// unreachable is the answer where a backend cannot be reached.
func unreachable(err error) error {
	return unavailable(fmt.Sprintf("error trying to reach service: %v", err))
}

func unavailable(message string) *meta.Status {
	return &meta.Status{Code: http.StatusServiceUnavailable, Reason: meta.ReasonServiceUnavailable, Message: message}
}

// internal is the answer to a failure for which there is no other one.
func internal(err error) error {
	return &meta.Status{Code: http.StatusInternalServerError, Message: err.Error()}
}
