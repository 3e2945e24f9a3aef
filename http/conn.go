package http

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"time"

	"github.com/troupe-api/troupe/policy/authn"
)

// A listener hands out connections of the front.
type listener struct {
	net.Listener
	tls              *tls.Config // nil: no TLS
	metrics          *Metrics
	handshakeTimeout time.Duration
	writeTimeout     time.Duration
}

// Accept waits for the next connection. It does not wait for its handshake.
func (l *listener) Accept() (net.Conn, error) {
	raw, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: raw, of: l, writeTimeout: l.writeTimeout}
	if l.tls != nil {
		c.tls = tls.Server(raw, l.tls)
		c.Conn = c.tls
	}
	return c, nil
}

// A conn is a connection that knows its client's certificates and that gives every write
// a deadline. Closing it stops the watch that it carries.
type conn struct {
	net.Conn
	of           *listener
	tls          *tls.Conn // nil: no TLS
	certs        []*x509.Certificate
	memory       authn.Memory // used by the request that is being answered
	writeTimeout time.Duration
	// armed is when the write deadline was last set, in Unix nanoseconds; 0: never.
	armed  atomic.Int64
	stream atomic.Pointer[stream]
	// linger: the client has sent what nobody has read, and must still get the answer.
	linger atomic.Bool
}

// Handshake is called by fasthttp in the goroutine that serves the connection.
func (c *conn) Handshake() error {
	if c.tls == nil {
		return nil
	}
	if err := c.Conn.SetDeadline(time.Now().Add(c.of.handshakeTimeout)); err != nil {
		return err
	}
	if err := c.tls.Handshake(); err != nil {
		c.of.metrics.handshakeErrors.Add(1)
		answerPlain(err)
		return err
	}
	c.certs = c.tls.ConnectionState().PeerCertificates
	return c.SetDeadline(time.Time{})
}

// plainAnswer is for a client that speaks HTTP where TLS is spoken.
const plainAnswer = "HTTP/1.0 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n" +
	"Client sent an HTTP request to an HTTPS server.\n"

// answerPlain tells a client that has failed the handshake in plain HTTP why it has.
func answerPlain(err error) {
	var header tls.RecordHeaderError
	if !errors.As(err, &header) || header.Conn == nil {
		return
	}
	switch string(header.RecordHeader[:]) {
	case "GET /", "HEAD ", "POST ", "PUT /", "PATCH", "DELET", "OPTIO":
		// Nobody is left to tell if this fails as well.
		_, _ = io.WriteString(header.Conn, plainAnswer)
		drain(header.Conn)
	}
}

// ConnectionState is the state of TLS, empty without.
func (c *conn) ConnectionState() tls.ConnectionState {
	if c.tls == nil {
		return tls.ConnectionState{}
	}
	return c.tls.ConnectionState()
}

// Write gives the client at least five sixths of the write timeout to take b.
func (c *conn) Write(b []byte) (int, error) {
	now := time.Now()
	if at := c.armed.Load(); now.UnixNano()-at > int64(c.writeTimeout/6) {
		if err := c.Conn.SetWriteDeadline(now.Add(c.writeTimeout)); err != nil {
			return 0, err
		}
		c.armed.Store(now.UnixNano())
	}
	return c.Conn.Write(b)
}

// SetDeadline forgets the write deadline that Write has set.
func (c *conn) SetDeadline(t time.Time) error {
	c.armed.Store(0)
	return c.Conn.SetDeadline(t)
}

// Close also stops the watch, if there is one.
func (c *conn) Close() error {
	if st := c.stream.Swap(nil); st != nil {
		st.stop()
	}
	if c.linger.Swap(false) {
		drain(c.Conn)
	}
	return c.Conn.Close()
}

// The time and the bytes that a client gets to stop sending.
const (
	lingerTime  = 2 * time.Second
	lingerBytes = 16 << 20
)

// drain reads for a while what the client still sends: closing at once would reset the
// connection, and the client might never see its answer. Errors only end it earlier.
func drain(c net.Conn) {
	if w, ok := c.(interface{ CloseWrite() error }); ok {
		_ = w.CloseWrite()
	}
	_ = c.SetReadDeadline(time.Now().Add(lingerTime))
	_, _ = io.CopyN(io.Discard, c, lingerBytes)
}
