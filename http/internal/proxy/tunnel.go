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

// A Tunnel is two connections that have been upgraded to another protocol: what comes from one goes to the other,
// and nobody looks at it, unless a Translator does.
type Tunnel struct {
	exchange *Exchange
	client   *wire.Conn
	backend  bufferedConn
	head     []byte // of the answer
}

// A Translator upgrades a client to another protocol than the backend, and translates one into the other.
type Translator interface {
	// Ask is the protocol to ask the backend for. It may change the header of the request.
	Ask(h http.Header) (protocol string)
	// Agree is the header of the answer to the client, after the backend has agreed with one of its own.
	Agree(backend http.Header) (http.Header, error)
	// Run translates until one of the connections has ended, or they are closed.
	Run(client, backend net.Conn)
}

// A bufferedConn is a connection of which something has been read ahead.
type bufferedConn struct {
	net.Conn
	reader *bufio.Reader
}

// Read implements io.Reader.
func (c bufferedConn) Read(b []byte) (int, error) { return c.reader.Read(b) }

// CloseWrite tells the other end that nothing more comes.
func (c bufferedConn) CloseWrite() error { return closeWrite(c.Conn) }

func closeWrite(c net.Conn) error {
	w, ok := c.(interface{ CloseWrite() error })
	if !ok {
		return errors.ErrUnsupported
	}
	return w.CloseWrite()
}

// newTunnel makes a tunnel that begins with the answer of the backend.
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
	_ = h.Write(&head) // a buffer takes everything
	head.WriteString("\r\n")
	return &Tunnel{exchange: e, client: e.conn, backend: backend, head: head.Bytes()}, nil
}

// Run goes on until both directions have ended, closes both connections, and then calls atEnd.
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

// close ends both directions.
func (t *Tunnel) close() {
	_ = t.client.Close() // nobody is left to tell
	_ = t.backend.Close()
}

// halfCloseTimeout is how long one direction may be silent when the other one has ended.
const halfCloseTimeout = 30 * time.Second

// CopyBoth copies what comes from each of two connections to the other one, until both directions have ended.
//
// Each direction ends by itself, as TCP has it. When one has ended the other one may go on for as long as something comes
// in it, so that a connection of which only one end is left does not stay. An error ends both.
func CopyBoth(a, b net.Conn) {
	p := &pair{a: a, b: b}
	var both sync.WaitGroup
	both.Go(func() { p.copy(a, b) })
	p.copy(b, a)
	both.Wait()
}

// A pair is two connections between which is copied.
type pair struct {
	a, b   net.Conn
	ending atomic.Bool // one direction has ended
}

func (p *pair) close() {
	_ = p.a.Close() // nobody is left to tell
	_ = p.b.Close()
}

// copy copies one direction.
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
			_ = from.SetReadDeadline(time.Now().Add(halfCloseTimeout)) // fails only if it is closed
		}
	}
}

// write writes a piece, for which the other end may take its time, but not for ever.
func write(to net.Conn, b []byte) error {
	if err := to.SetWriteDeadline(time.Now().Add(StreamTimeout)); err != nil {
		return err
	}
	_, err := to.Write(b)
	return err
}

// endDirection tells one end that nothing more comes to it. From then on it may not be silent.
func (p *pair) endDirection(to net.Conn) {
	p.ending.Store(true)
	if errors.Is(closeWrite(to), errors.ErrUnsupported) {
		p.close()
		return
	}
	_ = to.SetReadDeadline(time.Now().Add(halfCloseTimeout)) // fails only if it is closed
}
