package proxy

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/troupe-api/troupe/http/internal/wire"
	"github.com/troupe-api/troupe/kinds/meta"
)

// upgradeTimeout is the maximum time for a backend to respond to an upgrade.
const upgradeTimeout = 30 * time.Second

// upgrade forwards an upgrade request. The result has a Tunnel if the backend accepts.
func (e *Exchange) upgrade(body *wire.BodyStream, protocol string, started func(int)) (result Result, err error) {
	defer func() {
		if result.Tunnel == nil {
			e.cancel(nil)
		}
	}()
	if e.request.Head.ContentLength() != 0 && e.request.Head.ContentLength() != -2 {
		return Result{}, &meta.Status{Code: http.StatusBadRequest, Reason: meta.ReasonBadRequest, Message: "an upgrade has no body"}
	}
	backend, resp, err := e.requestUpgrade(protocol)
	if err != nil {
		return Result{}, e.fault(err, e.target.UpgradeFault, internal)
	}
	if resp.StatusCode != http.StatusSwitchingProtocols {
		defer func() { _ = backend.Close() }()
		if resp.StatusCode < 400 {
			err := fmt.Errorf("invalid upgrade response: status code %d", resp.StatusCode)
			return Result{}, e.fault(err, e.target.UpgradeFault, internal)
		}
		defer e.closeWithContext(backend)()
		if err := backend.Conn.SetReadDeadline(time.Now().Add(upgradeTimeout)); err != nil {
			return Result{}, e.fault(err, e.target.UpgradeFault, internal)
		}
		return e.answer(body, resp, started)
	}
	tunnel, err := e.newTunnel(backend, resp)
	if err != nil {
		_ = backend.Close()
		return Result{}, e.fault(err, e.target.UpgradeFault, internal)
	}
	body.BeginAnswer()
	started(resp.StatusCode)
	return Result{Code: resp.StatusCode, Tunnel: tunnel}, nil
}

func (e *Exchange) requestUpgrade(protocol string) (none bufferedConn, _ *http.Response, err error) {
	r := e.newRequest(nil, protocol)
	if translator := e.target.Translator; translator != nil {
		r.Method, protocol = http.MethodPost, translator.Ask(r.Header)
		r.Header.Set("Upgrade", protocol)
	}
	backend, err := e.target.Backend.DialUpgrade(e.ctx, r.URL)
	if err != nil {
		return none, nil, fmt.Errorf("error dialing backend: %w", err)
	}
	limited := &headReader{from: backend, left: maxResponseHeaderSize}
	reader := bufio.NewReaderSize(limited, 4<<10)
	resp, err := e.exchangeHeads(backend, reader, r)
	limited.left = math.MaxInt64
	if err == nil && resp.StatusCode == http.StatusSwitchingProtocols && !agrees(resp.Header, protocol) {
		err = fmt.Errorf("invalid upgrade response: protocol %q", resp.Header.Get("Upgrade"))
	}
	if err != nil {
		_ = backend.Close() // the first error counts
		return none, nil, err
	}
	return bufferedConn{backend, reader}, resp, nil
}

func (e *Exchange) exchangeHeads(backend net.Conn, reader *bufio.Reader, r *http.Request) (*http.Response, error) {
	defer e.closeWithContext(backend)()
	if err := backend.SetDeadline(time.Now().Add(upgradeTimeout)); err != nil {
		return nil, err
	}
	if err := r.Write(backend); err != nil {
		return nil, fmt.Errorf("error sending request: %w", err)
	}
	resp, err := http.ReadResponse(reader, r)
	if err != nil {
		return nil, err
	}
	return resp, backend.SetDeadline(time.Time{})
}

type headReader struct {
	from io.Reader
	left int64
}

var errHeadTooLarge = errors.New("the header of the response is too large")

func (r *headReader) Read(b []byte) (int, error) {
	if r.left <= 0 {
		return 0, errHeadTooLarge
	}
	n, err := r.from.Read(b[:min(int64(len(b)), r.left)])
	r.left -= int64(n)
	return n, err
}

func agrees(h http.Header, asked string) bool {
	for item := range strings.SplitSeq(asked, ",") {
		if strings.EqualFold(strings.TrimSpace(item), strings.TrimSpace(h.Get("Upgrade"))) {
			return true
		}
	}
	return false
}

func (e *Exchange) closeWithContext(c net.Conn) (stop func()) {
	end := context.AfterFunc(e.ctx, func() { _ = c.Close() }) // its user notices
	return func() { end() }
}
