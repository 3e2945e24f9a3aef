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

	"github.com/troupe-api/troupe/http/internal/limits"
)

// A Conn is a client connection. Each write has a deadline. The goroutine that serves the
// connection owns all fields except lifecycle and the atomic fields.
type Conn struct {
	net.Conn
	raw     net.Conn  // below TLS
	tls     *tls.Conn // nil: no TLS
	all     *Connections
	entry   connEntry
	handler Handler
	stream  *stream // of HTTP/2, which carries one request at a time; nil for HTTP/1
	reuse   bool    // the stream's Conn can serve another request
	certs   []*x509.Certificate
	// principal is the user of the last request, if known, or else the client's address. It is nil
	// after the connection has ended.
	principal *limits.Principal

	readAhead
	body requestBody // of the current request
	answer
	turn turn

	// writeDeadlineSet is the time of the last change of the write deadline, in Unix nanoseconds,
	// or 0.
	writeDeadlineSet atomic.Int64
	onClose          atomic.Pointer[func()]
	authenticated    atomic.Bool // the last request was authenticated

	lifecycle
}

type readAhead struct {
	reader      *bufio.Reader // nil: no buffered input
	unread      []byte        // returned by Read first
	firstByte   [1]byte       // of a request
	largeHead   bool          // reader is from largeReaders
	requestSeen bool          // a complete request was received
	scheduled   bool          // input waits for a slot
}

type answer struct {
	answered answered // what the handler has written itself
	hijacker func()
	newline  bool // follows the body
	excess   bool // the connection exceeds its user's share and closes without lingering
	// writeTimeout overrides Options.WriteTimeout unless it is 0.
	writeTimeout time.Duration
	// linger means that the client must receive the response although part of the body is unread.
	linger atomic.Bool
}

// lifecycle is the part of a Conn with which other goroutines close it.
type lifecycle struct {
	mu          sync.Mutex // guards the fields and the read deadline
	phase       phase
	closing     bool // the server is shutting down
	multiplexed bool // HTTP/2
}

func newConn(raw net.Conn, all *Connections) *Conn {
	c := &Conn{raw: raw, all: all, entry: newConnEntry(raw.RemoteAddr())}
	c.Conn = scheduledConn{raw, c}
	c.setPrincipal(all.opts.Ledger.ForAddress(c.entry.address))
	return c
}

// Handler returns the handler that Options.NewHandler created.
func (c *Conn) Handler() Handler { return c.handler }

// ClientCerts returns the client's certificates, the leaf first.
func (c *Conn) ClientCerts() []*x509.Certificate { return c.certs }

// Secure reports whether the connection uses TLS.
func (c *Conn) Secure() bool { return c.tls != nil }

type phase uint8

const (
	phaseReading    phase = iota // a handshake or a request head
	phaseIdle                    // between requests
	phaseActive                  // handling a request
	phaseDiscarding              // discarding the rest of an unread body
	phaseHijacked                // taken over by the handler
)

// MaxWriteSize is the maximum number of bytes in one write, before its deadline is renewed.
const MaxWriteSize = 64 << 10

// closeGrace is how long a client may take to complete its request during a shutdown.
const closeGrace = time.Second

// setPhase changes the phase and sets its read deadline. A timeout of 0 means no deadline.
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

func (c *Conn) evictable() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.phase == phaseIdle || c.phase == phaseDiscarding || c.phase == phaseReading
}

// beginClose closes an idle connection immediately. A client that is sending a request has
// closeGrace to complete it. A request that is being handled continues.
func (c *Conn) beginClose() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closing = true
	switch {
	case c.phase == phaseIdle:
		_ = c.raw.Close() // its goroutine notices
	case c.phase == phaseHijacked, c.multiplexed:
	default:
		_ = c.Conn.SetReadDeadline(time.Now().Add(closeGrace)) // fails only if closed
	}
}

func (c *Conn) abort() { _ = c.raw.Close() }

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
	// The first request has a separate timeout, because clients may open connections in advance.
	if err := c.setPhase(phaseReading, c.all.opts.ReadTimeout); err != nil {
		return err
	}
	return c.Conn.SetWriteDeadline(time.Time{})
}

const plainHTTPError = "HTTP/1.0 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n" +
	"Client sent an HTTP request to an HTTPS server.\n"

func writePlainHTTPError(err error) {
	var header tls.RecordHeaderError
	if !errors.As(err, &header) || header.Conn == nil {
		return
	}
	switch string(header.RecordHeader[:]) {
	case "GET /", "HEAD ", "POST ", "PUT /", "PATCH", "DELET", "OPTIO":
		// A write error cannot be reported.
		_, _ = io.WriteString(header.Conn, plainHTTPError)
		drain(header.Conn)
	}
}

// ConnectionState returns the TLS state, or the zero value without TLS.
func (c *Conn) ConnectionState() tls.ConnectionState {
	if c.tls == nil {
		return tls.ConnectionState{}
	}
	return c.tls.ConnectionState()
}

// Read reads client input, beginning with input that was read ahead.
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

// Write writes b in pieces of at most MaxWriteSize. To save system calls, it does not renew a
// deadline while at least 5/6 of the write timeout is left.
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

// idleTime is the time since the last write after which a watch is idle.
const idleTime = 10 * time.Second

// Idle reports whether nothing was written for about idleTime.
func (c *Conn) Idle() bool {
	return time.Since(time.Unix(0, c.writeDeadlineSet.Load())) > idleTime
}

// CloseWrite closes the sending side of the connection.
func (c *Conn) CloseWrite() error {
	return closeWrite(c.Conn)
}

func closeWrite(c net.Conn) error {
	w, ok := c.(interface{ CloseWrite() error })
	if !ok {
		return errors.ErrUnsupported
	}
	return w.CloseWrite()
}

// SetDeadline sets the read deadline and the write deadline. The next Write replaces the write
// deadline.
func (c *Conn) SetDeadline(t time.Time) error {
	c.writeDeadlineSet.Store(0)
	return c.Conn.SetDeadline(t)
}

// SetUser sets the user of the current request and returns the user's principal. If the user has
// too many connections, the error is a *limits.Rejection, and this connection must close. The limit
// does not apply if reserved is set.
func (c *Conn) SetUser(name string, reserved bool) (*limits.Principal, error) {
	if c.stream != nil {
		c.setKnown()
	}
	if c.principal.User == name {
		return c.principal, nil
	}
	c.setPrincipal(c.all.opts.Ledger.ForUser(name))
	c.authenticated.Store(true)
	c.requestSeen = true
	c.all.markRequestSeen(c, true)
	if rejection := c.all.transfer(c.connection(), c.principal, reserved); rejection != nil {
		c.excess = true
		return c.principal, rejection
	}
	return c.principal, nil
}

func (c *Conn) connection() *Conn {
	if c.stream != nil {
		return c.stream.mux.conn
	}
	return c
}

// SetAnonymous marks the current request as anonymous, and returns the principal of the client's
// address.
func (c *Conn) SetAnonymous() *limits.Principal {
	if c.authenticated.Load() {
		c.setPrincipal(c.all.opts.Ledger.ForAddress(c.entry.address))
		c.all.transfer(c.connection(), c.principal, true)
		c.authenticated.Store(false)
		c.all.markRequestSeen(c, false)
	}
	return c.principal
}

func (c *Conn) setPrincipal(p *limits.Principal) {
	c.all.scheduler.assign(c, p)
	if c.principal != nil {
		c.principal.Close()
	}
	c.principal = p
}

// SetWriteTimeout changes the write timeout of the current response.
func (c *Conn) SetWriteTimeout(timeout time.Duration) {
	c.writeTimeout = timeout
	c.writeDeadlineSet.Store(0)
}

type answered uint8

const (
	answeredNot  answered = iota // nothing: the server writes the response
	answeredKeep                 // everything; the connection can be reused
	answeredLast                 // everything; the connection closes
	answeredPart                 // part of it
)

// SetAnswered records that the handler has written the response itself. If last is set, the
// connection then closes.
func (c *Conn) SetAnswered(last bool) {
	c.answered = answeredKeep
	if last {
		c.answered = answeredLast
	}
}

// SetCut records that the handler has written only part of the response. The connection is then
// aborted, so that the client detects the truncation.
func (c *Conn) SetCut() { c.answered = answeredPart }

// EndWithNewline appends a newline to the current response, which must not be a stream. The body
// may be shared memory, so the newline is written separately.
func (c *Conn) EndWithNewline() { c.newline = true }

// Left reports whether the client has disconnected or canceled its HTTP/2 stream. As in net/http, a
// client that closes only its sending side counts as disconnected.
func (c *Conn) Left() bool {
	if c.stream != nil {
		return c.stream.r.Context().Err() != nil
	}
	return c.closedByClient()
}

// Closing reports whether the server is shutting down. The connection then closes after the current
// response.
func (c *Conn) Closing() bool { return c.all.isClosing() }

// Hijack registers run to take over the connection after the current request. run must close it.
func (c *Conn) Hijack(run func()) { c.hijacker = run }

// SetOnClose makes the first Close call f before it closes the connection.
func (c *Conn) SetOnClose(f func()) { c.onClose.Store(&f) }

// LingerOnClose makes Close wait until the client stops sending, so that the client can receive
// the response.
func (c *Conn) LingerOnClose() { c.linger.Store(true) }

// Close closes the connection. Pending reads and writes fail.
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

// lingerTime and lingerBytes limit drain.
const (
	lingerTime  = 2 * time.Second
	lingerBytes = 16 << 20
)

// drain reads and discards input until the client stops sending. An immediate close would cause a
// TCP reset, and the client might lose the response.
func drain(c net.Conn) {
	_ = closeWrite(c)
	_ = c.SetReadDeadline(time.Now().Add(lingerTime))
	_, _ = io.CopyN(io.Discard, c, lingerBytes)
}
