package proxy

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/troupe-api/troupe/http/internal/wire"
)

// A Tunnel is a pair of upgraded connections, copied both ways unless a Translator is set.
type Tunnel struct {
	exchange *Exchange
	client   *wire.Conn
	backend  bufferedConn
	head     []byte // of the response
}

// A Translator upgrades the client to another protocol than the backend and translates between
// them.
type Translator interface {
	// Ask returns the protocol to request from the backend. It may change the request header.
	Ask(h http.Header) (protocol string)
	// Agree returns the response header for the client after the backend has agreed.
	Agree(backend http.Header) (http.Header, error)
	// Run translates until a connection ends or is closed.
	Run(client, backend net.Conn)
}

// A bufferedConn is a connection with buffered input.
type bufferedConn struct {
	net.Conn
	reader *bufio.Reader
}

// Read implements io.Reader.
func (c bufferedConn) Read(b []byte) (int, error) { return c.reader.Read(b) }

func (c bufferedConn) CloseWrite() error { return closeWrite(c.Conn) }

func closeWrite(c net.Conn) error {
	w, ok := c.(interface{ CloseWrite() error })
	if !ok {
		return errors.ErrUnsupported
	}
	return w.CloseWrite()
}

// newTunnel returns a tunnel that begins with the 101 response.
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

// Run copies until both directions have ended, closes both connections, and calls atEnd.
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

// halfCloseTimeout bounds the silence of one direction after the other has ended.
const halfCloseTimeout = 30 * time.Second

// CopyBoth copies between two connections in both directions until both have ended.
//
// Each direction ends on its own, as in TCP. After one has ended, the other continues while it is
// active, so that a connection with one dead end does not stay open. An error ends both.
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
		if n > 0 && write(to, buf[:n]) != nil {
			p.close()
			return
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

// write writes a piece with a deadline.
func write(to net.Conn, b []byte) error {
	if err := to.SetWriteDeadline(time.Now().Add(StreamTimeout)); err != nil {
		return err
	}
	_, err := to.Write(b)
	return err
}

// endDirection closes the sending side of a connection. From then on it may not be silent.
func (p *pair) endDirection(to net.Conn) {
	p.ending.Store(true)
	if errors.Is(closeWrite(to), errors.ErrUnsupported) {
		p.close()
		return
	}
	_ = to.SetReadDeadline(time.Now().Add(halfCloseTimeout)) // fails only if closed
}
