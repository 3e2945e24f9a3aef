package wire

import (
	"bufio"
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// A Conn is a connection that knows its client's certificates and that gives every write
// a deadline. The goroutine that serves it owns it, except for lifecycle and the atomic fields.
type Conn struct {
	net.Conn
	raw     net.Conn  // beneath TLS
	tls     *tls.Conn // nil: no TLS
	all     *Connections
	entry   connEntry
	handler Handler
	stream  *stream // of HTTP/2, which serves one request at a time; nil for a connection of HTTP/1
	reuse   bool    // the stream's Conn can serve another request
	certs   []*x509.Certificate

	readAhead
	body requestBody // of the request that is being answered
	answer
	turn turn

	// writeDeadlineSet is when the write deadline was last set, in Unix nanoseconds; 0: never.
	writeDeadlineSet atomic.Int64
	onClose          atomic.Pointer[func()]
	authenticated    atomic.Bool // the last request came from a user who is not anonymous

	lifecycle
}

// readAhead is what has been read of a connection and not been used yet.
type readAhead struct {
	reader      *bufio.Reader // nil: nothing
	unread      []byte        // what Read returns before anything else
	firstByte   [1]byte       // of a request
	largeHead   bool          // reader is a large one
	requestSeen bool          // a whole request has come
	scheduled   bool          // what is read waits for a slot
}

// An answer is the state of the answer to the present request.
type answer struct {
	answered answered // what the handler has written by itself
	hijacker func()
	newline  bool // follows the body
	// writeTimeout replaces that of the options, if it is set.
	writeTimeout time.Duration
	// linger: part of the body has not been read, and the client must still get the answer.
	linger atomic.Bool
}

// lifecycle is the state that other goroutines see and change, to close the connection.
type lifecycle struct {
	mu          sync.Mutex // guards the fields, and the read deadline
	phase       phase
	closing     bool // the server is closing
	multiplexed bool // it speaks HTTP/2
}

func newConn(raw net.Conn, all *Connections) *Conn {
	c := &Conn{raw: raw, all: all, entry: newConnEntry(raw.RemoteAddr())}
	c.Conn = scheduledConn{raw, c}
	return c
}

// Handler is what Options.NewHandler has made for the connection.
func (c *Conn) Handler() Handler { return c.handler }

// ClientCerts are the certificates that the client has shown, its own first.
func (c *Conn) ClientCerts() []*x509.Certificate { return c.certs }

// Secure tells whether the connection is encrypted.
func (c *Conn) Secure() bool { return c.tls != nil }

// A phase is what a connection is doing.
type phase uint8

const (
	phaseReading    phase = iota // a handshake, or a request of which the head is not whole
	phaseIdle                    // between two requests
	phaseActive                  // a request is being answered
	phaseDiscarding              // the rest of a body that the handler has not read is still coming
	phaseHijacked                // the handler has taken the connection over
)

// MaxWriteSize is how many bytes are written to a client under one deadline.
const MaxWriteSize = 64 << 10

// closeGrace is the time that a client gets to send the rest of its request when the server closes.
const closeGrace = time.Second

// setPhase begins a phase in which the client has some time to send something; 0: no bound.
func (c *Conn) setPhase(p phase, timeout time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.phase = p
	if p == phaseActive {
		return nil
	}
	var until time.Time
	if c.closing && p != phaseHijacked {
		timeout = min(timeout, closeGrace)
	}
	if timeout > 0 {
		until = time.Now().Add(timeout)
	}
	return c.Conn.SetReadDeadline(until)
}

// evictable tells that the connection is not answering a request.
func (c *Conn) evictable() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.phase == phaseIdle || c.phase == phaseDiscarding || c.phase == phaseReading
}

// beginClose ends the connection soon, unless a request is being answered.
func (c *Conn) beginClose() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closing = true
	switch {
	case c.phase == phaseIdle:
		_ = c.raw.Close() // its goroutine notices
	case c.phase == phaseHijacked, c.multiplexed:
	default:
		_ = c.Conn.SetReadDeadline(time.Now().Add(closeGrace)) // fails only if it is closed
	}
}

// abort ends the connection at once, without an answer.
func (c *Conn) abort() { _ = c.raw.Close() }

// handshake is that of TLS, if there is TLS.
func (c *Conn) handshake() error {
	timeout := c.all.opts.HandshakeTimeout
	if c.tls == nil {
		return c.setPhase(phaseReading, c.all.opts.ReadTimeout)
	}
	if err := c.Conn.SetWriteDeadline(time.Now().Add(timeout)); err != nil {
		return err
	}
	if err := c.setPhase(phaseReading, timeout); err != nil {
		return err
	}
	if err := c.tls.Handshake(); err != nil {
		c.all.handshakeErrors.Add(1)
		writePlainHTTPError(err)
		return err
	}
	c.certs = c.all.certificates.share(c.tls.ConnectionState().PeerCertificates)
	return c.Conn.SetWriteDeadline(time.Time{})
}

// plainHTTPError is for a client that sends plain HTTP to a port for TLS.
const plainHTTPError = "HTTP/1.0 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n" +
	"Client sent an HTTP request to an HTTPS server.\n"

// writePlainHTTPError tells a client that has failed the handshake in plain HTTP why it has.
func writePlainHTTPError(err error) {
	var header tls.RecordHeaderError
	if !errors.As(err, &header) || header.Conn == nil {
		return
	}
	switch string(header.RecordHeader[:]) {
	case "GET /", "HEAD ", "POST ", "PUT /", "PATCH", "DELET", "OPTIO":
		// If this fails as well, the client cannot be told anything.
		_, _ = io.WriteString(header.Conn, plainHTTPError)
		drain(header.Conn)
	}
}

// ConnectionState is the state of TLS, empty without.
func (c *Conn) ConnectionState() tls.ConnectionState {
	if c.tls == nil {
		return tls.ConnectionState{}
	}
	return c.tls.ConnectionState()
}

// Read reads what has been read ahead, and then what comes.
func (c *Conn) Read(b []byte) (int, error) {
	if len(c.unread) > 0 {
		n := copy(b, c.unread)
		if c.unread = c.unread[n:]; len(c.unread) == 0 {
			c.unread = nil
		}
		return n, nil
	}
	return c.Conn.Read(b)
}

// Write gives the client at least five sixths of the write timeout to take each piece of b.
func (c *Conn) Write(b []byte) (written int, err error) {
	for {
		now, timeout := time.Now(), cmp.Or(c.writeTimeout, c.all.opts.WriteTimeout)
		if at := c.writeDeadlineSet.Load(); now.UnixNano()-at > int64(timeout/6) {
			if err := c.Conn.SetWriteDeadline(now.Add(timeout)); err != nil {
				return written, err
			}
			c.writeDeadlineSet.Store(now.UnixNano())
		}
		n, err := c.Conn.Write(b[:min(len(b), MaxWriteSize)])
		if written, b = written+n, b[n:]; err != nil || len(b) == 0 {
			return written, err
		}
	}
}

// CloseWrite tells the client that nothing more comes; it may still send.
func (c *Conn) CloseWrite() error {
	return closeWrite(c.Conn)
}

// closeWrite ends one direction of a connection, if it can.
func closeWrite(c net.Conn) error {
	w, ok := c.(interface{ CloseWrite() error })
	if !ok {
		return errors.ErrUnsupported
	}
	return w.CloseWrite()
}

// SetDeadline forgets the write deadline that Write has set.
func (c *Conn) SetDeadline(t time.Time) error {
	c.writeDeadlineSet.Store(0)
	return c.Conn.SetDeadline(t)
}

// SetUser notes the user of the request that is being answered.
func (c *Conn) SetUser(name string) {
	c.all.scheduler.assign(c, userClient(name))
	if c.stream != nil {
		c.stream.setKnown()
	}
	if !c.authenticated.Load() {
		c.authenticated.Store(true)
		c.requestSeen = true
		c.all.markRequestSeen(c, true)
	}
}

// SetAnonymous notes that the request that is being answered has no known user.
func (c *Conn) SetAnonymous() {
	c.all.scheduler.assign(c, addressClient(c.entry))
	if c.authenticated.Load() {
		c.authenticated.Store(false)
		c.all.markRequestSeen(c, false)
	}
}

// SetWriteTimeout changes how long a client may take for each piece of the present answer.
func (c *Conn) SetWriteTimeout(timeout time.Duration) {
	c.writeTimeout = timeout
	c.writeDeadlineSet.Store(0)
}

// answered is what a handler has written of its answer by itself.
type answered uint8

const (
	answeredNot  answered = iota // nothing: the server writes the answer
	answeredKeep                 // all; there may be another request
	answeredLast                 // all; the connection ends with it
	answeredPart                 // a part
)

// SetAnswered notes that the handler has written the answer by itself; last: the connection ends with it.
func (c *Conn) SetAnswered(last bool) {
	c.answered = answeredKeep
	if last {
		c.answered = answeredLast
	}
}

// SetCut notes that the handler has begun to write the answer by itself, and could not end it: the connection is
// closed in a way that no client takes for the end of the answer.
func (c *Conn) SetCut() { c.answered = answeredPart }

// EndWithNewline adds a newline to the body of the present answer, which is not a stream. The body may be shared
// memory, so nothing can be appended to it.
func (c *Conn) EndWithNewline() { c.newline = true }

// Closing tells that the server is closing: the connection ends with the present answer.
func (c *Conn) Closing() bool { return c.all.isClosing() }

// Hijack gives the connection away: when the request is over, run goes on with it and has to close it.
func (c *Conn) Hijack(run func()) { c.hijacker = run }

// SetOnClose makes Close call f first, once.
func (c *Conn) SetOnClose(f func()) { c.onClose.Store(&f) }

// LingerOnClose makes Close wait until the client has stopped sending, so that it gets the answer.
func (c *Conn) LingerOnClose() { c.linger.Store(true) }

// Close closes the connection. Those who use it notice by their next read or write.
func (c *Conn) Close() error {
	if f := c.onClose.Swap(nil); f != nil {
		(*f)()
	}
	if c.linger.Swap(false) && c.stream == nil {
		drain(c.Conn)
	}
	err := c.Conn.Close()
	c.all.remove(c)
	return err
}

// The time and the bytes that a client gets to stop sending.
const (
	lingerTime  = 2 * time.Second
	lingerBytes = 16 << 20
)

// drain reads for a while what the client still sends: closing at once would reset the
// connection, and the client might never see its answer. Errors only end it earlier.
func drain(c net.Conn) {
	_ = closeWrite(c)
	_ = c.SetReadDeadline(time.Now().Add(lingerTime))
	_, _ = io.CopyN(io.Discard, c, lingerBytes)
}
