package proxy

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/troupe-api/troupe/http/internal/wire"
)

// A Tunnel connects two upgraded connections. It copies data in both directions unless a Translator
// is set.
type Tunnel struct {
	exchange *Exchange
	client   *wire.Conn
	backend  bufferedConn
	head     []byte // of the response
}

// A Translator translates between the upgrade protocols of client and backend.
type Translator interface {
	// Ask returns the protocol to request from the backend. It may change the request headers.
	Ask(h http.Header) (protocol string)
	// Agree returns the response headers for the client after the backend has accepted the upgrade.
	Agree(backend http.Header) (http.Header, error)
	// Run translates until one of the connections ends.
	Run(client, backend net.Conn)
}

type bufferedConn struct {
	net.Conn
	reader *bufio.Reader
}

// Read first reads the data that followed the response head.
func (c bufferedConn) Read(b []byte) (int, error) { return c.reader.Read(b) }

func (c bufferedConn) CloseWrite() error { return closeWrite(c.Conn) }

func closeWrite(c net.Conn) error {
	w, ok := c.(interface{ CloseWrite() error })
	if !ok {
		return errors.ErrUnsupported
	}
	return w.CloseWrite()
}

func (e *Exchange) newTunnel(backend bufferedConn, resp *http.Response) (*Tunnel, error) {
	h := resp.Header.Clone()
	upgrade := h.Get("Upgrade")
	if translator := e.target.Translator; translator != nil {
		var err error
		if h, err = translator.Agree(h); err != nil {
			return nil, err
		}
		upgrade = h.Get("Upgrade")
	}
	removeHopByHop(h)
	addFrontHeaders(h, e.request.Answer)
	h.Set("Connection", "Upgrade")
	h.Set("Upgrade", upgrade)
	var head bytes.Buffer
	head.WriteString("HTTP/1.1 101 Switching Protocols\r\n")
	_ = h.Write(&head) // a buffer never fails
	head.WriteString("\r\n")
	return &Tunnel{exchange: e, client: e.conn, backend: backend, head: head.Bytes()}, nil
}

// Run forwards data until both directions have ended, closes both connections, and calls atEnd.
func (t *Tunnel) Run(atEnd func()) {
	defer atEnd()
	defer t.close()
	defer t.exchange.cancel(nil)
	defer context.AfterFunc(t.exchange.ctx, t.close)()
	t.client.SetWriteTimeout(StreamTimeout)
	if _, err := t.client.Write(t.head); err != nil {
		return
	}
	t.head = nil
	if translator := t.exchange.target.Translator; translator != nil {
		translator.Run(t.client, t.backend)
		return
	}
	CopyBoth(t.client, t.backend)
}

func (t *Tunnel) close() {
	_ = t.client.Close() // errors cannot be reported
	_ = t.backend.Close()
}

// halfCloseTimeout is how long one direction may be silent after the other has ended.
const halfCloseTimeout = 30 * time.Second

// CopyBoth copies between two connections until both directions have ended.
//
// After the first direction has ended, the other may be silent only for halfCloseTimeout. If a
// write to a connection fails, the last data received from it is still copied. A write timeout or a
// read error ends both directions.
func CopyBoth(a, b net.Conn) {
	p := &pair{a: a, b: b}
	var both sync.WaitGroup
	both.Go(func() { p.copy(a, b) })
	p.copy(b, a)
	both.Wait()
}

type pair struct {
	a, b   net.Conn
	ending atomic.Bool // one direction has ended
}

func (p *pair) close() {
	_ = p.a.Close() // errors cannot be reported
	_ = p.b.Close()
}

func (p *pair) copy(to, from net.Conn) {
	buf := copyBuffers.Get().(*[copyBufferSize]byte)
	defer copyBuffers.Put(buf)
	for {
		n, err := from.Read(buf[:])
		if n > 0 {
			if err := write(to, buf[:n]); err != nil {
				p.endBroken(to, err)
				return
			}
		}
		switch {
		case err == io.EOF:
			p.endDirection(to)
			return
		case err != nil:
			p.close()
			return
		}
		if p.ending.Load() {
			_ = from.SetReadDeadline(time.Now().Add(halfCloseTimeout)) // fails only if closed
		}
	}
}

func write(to net.Conn, b []byte) error {
	if err := to.SetWriteDeadline(time.Now().Add(StreamTimeout)); err != nil {
		return err
	}
	_, err := to.Write(b)
	return err
}

// endDirection closes the sending side of a connection after the other one has ended. Later reads
// from it time out after halfCloseTimeout.
func (p *pair) endDirection(to net.Conn) {
	p.ending.Store(true)
	if errors.Is(closeWrite(to), errors.ErrUnsupported) {
		p.close()
		return
	}
	_ = to.SetReadDeadline(time.Now().Add(halfCloseTimeout)) // fails only if closed
}

// endBroken ends the direction to a connection on which a write failed.
func (p *pair) endBroken(to net.Conn, err error) {
	p.ending.Store(true)
	if errors.Is(err, os.ErrDeadlineExceeded) || to.SetReadDeadline(time.Now().Add(halfCloseTimeout)) != nil {
		p.close()
	}
}
