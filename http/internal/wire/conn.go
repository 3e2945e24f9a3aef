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

// A Conn is a connection with its client certificates. Each write has a deadline. It is owned by
// the goroutine that serves it, except lifecycle and the atomic fields.
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
	// principal is the user of the last request or the client's address; nil after the connection
	// has ended.
	principal *limits.Principal

	readAhead
	body requestBody // of the current request
	answer
	turn turn

	// writeDeadlineSet is when the write deadline was last set, in Unix nanoseconds. 0 means never.
	writeDeadlineSet atomic.Int64
	onClose          atomic.Pointer[func()]
	authenticated    atomic.Bool // the last request had a user other than anonymous

	lifecycle
}

// readAhead is input that was read but not used.
type readAhead struct {
	reader      *bufio.Reader // nil: no buffered input
	unread      []byte        // returned by Read first
	firstByte   [1]byte       // of a request
	largeHead   bool          // reader is from largeReaders
	requestSeen bool          // a whole request was received
	scheduled   bool          // input waits for a slot
}

// An answer is the state of the current response.
type answer struct {
	answered answered // what the handler has written itself
	hijacker func()
	newline  bool // follows the body
	excess   bool // the connection exceeds its user's share and closes without lingering
	// writeTimeout overrides that of the options if set.
	writeTimeout time.Duration
	// linger is set if part of the body is unread and the client must still get the response.
	linger atomic.Bool
}

// lifecycle is the state that other goroutines use to close the connection.
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

// Handler returns the handler that Options.NewHandler made.
func (c *Conn) Handler() Handler { return c.handler }

// ClientCerts returns the client's certificates, the leaf first.
func (c *Conn) ClientCerts() []*x509.Certificate { return c.certs }

// Secure reports whether the connection uses TLS.
func (c *Conn) Secure() bool { return c.tls != nil }

// A phase is the state of a connection.
type phase uint8

const (
	phaseReading    phase = iota // a handshake or a request head
	phaseIdle                    // between requests
	phaseActive                  // handling a request
	phaseDiscarding              // discarding the rest of an unread body
	phaseHijacked                // taken over by the handler
)

// MaxWriteSize is the number of bytes written under one deadline.
const MaxWriteSize = 64 << 10

// closeGrace is how long a client may take to finish its request during shutdown.
const closeGrace = time.Second

// setPhase sets the phase and its read deadline. 0 means none.
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

// beginClose closes the connection soon, unless a request is being handled.
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
	return c.Conn.SetWriteDeadline(time.Time{})
}

// plainHTTPError is the response to plain HTTP on a TLS port.
const plainHTTPError = "HTTP/1.0 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n" +
	"Client sent an HTTP request to an HTTPS server.\n"

// writePlainHTTPError sends plainHTTPError if the handshake failed because of plain HTTP.
func writePlainHTTPError(err error) {
	var header tls.RecordHeaderError
	if !errors.As(err, &header) || header.Conn == nil {
		return
	}
	switch string(header.RecordHeader[:]) {
	case "GET /", "HEAD ", "POST ", "PUT /", "PATCH", "DELET", "OPTIO":
		// A failed write leaves nothing else to do.
		_, _ = io.WriteString(header.Conn, plainHTTPError)
		drain(header.Conn)
	}
}

// ConnectionState returns the TLS state, empty without TLS.
func (c *Conn) ConnectionState() tls.ConnectionState {
	if c.tls == nil {
		return tls.ConnectionState{}
	}
	return c.tls.ConnectionState()
}

// Read returns the input read ahead first.
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

// Write gives the client at least 5/6 of the write timeout for each piece of b.
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

// idleTime is the time without writes after which a watch is idle.
const idleTime = 10 * time.Second

// Idle reports whether nothing was written for about idleTime.
func (c *Conn) Idle() bool {
	return time.Since(time.Unix(0, c.writeDeadlineSet.Load())) > idleTime
}

// CloseWrite closes the sending side.
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

// SetDeadline resets the deadline set by Write.
func (c *Conn) SetDeadline(t time.Time) error {
	c.writeDeadlineSet.Store(0)
	return c.Conn.SetDeadline(t)
}

// SetUser sets the user of the current request and returns its principal. The error is a
// *limits.Rejection if the user exceeds its share of connections; this one must then close.
// reserved lifts the share.
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

// connection returns the connection that carries the requests of c.
func (c *Conn) connection() *Conn {
	if c.stream != nil {
		return c.stream.mux.conn
	}
	return c
}

// SetAnonymous marks the current request as anonymous, and returns the principal of its address.
func (c *Conn) SetAnonymous() *limits.Principal {
	if c.authenticated.Load() {
		c.setPrincipal(c.all.opts.Ledger.ForAddress(c.entry.address))
		c.all.transfer(c.connection(), c.principal, true)
		c.authenticated.Store(false)
		c.all.markRequestSeen(c, false)
	}
	return c.principal
}

// setPrincipal changes the principal of the connection; nil when it ends.
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

// An answered describes the part of a response that the handler wrote itself.
type answered uint8

const (
	answeredNot  answered = iota // nothing: the server writes the response
	answeredKeep                 // everything; the connection can be reused
	answeredLast                 // everything; the connection closes
	answeredPart                 // part of it
)

// SetAnswered records that the handler has written the response. last closes the connection.
func (c *Conn) SetAnswered(last bool) {
	c.answered = answeredKeep
	if last {
		c.answered = answeredLast
	}
}

// SetCut records that the handler has written only part of the response. The connection is aborted,
// so that the client does not take the response for complete.
func (c *Conn) SetCut() { c.answered = answeredPart }

// EndWithNewline appends a newline to the current response, which must not be a stream. The body
// may be shared memory that must not be appended to.
func (c *Conn) EndWithNewline() { c.newline = true }

// Left reports whether the client has closed its side of the connection, or canceled the request of
// an HTTP/2 stream. As in net/http, a client that only closes its sending side counts as gone.
func (c *Conn) Left() bool {
	if c.stream != nil {
		return c.stream.r.Context().Err() != nil
	}
	return c.closedByClient()
}

// Closing reports whether the server is shutting down and the connection closes after the current
// response.
func (c *Conn) Closing() bool { return c.all.isClosing() }

// Hijack hands the connection to run, called after the request. run must close it.
func (c *Conn) Hijack(run func()) { c.hijacker = run }

// SetOnClose makes Close call f first, once.
func (c *Conn) SetOnClose(f func()) { c.onClose.Store(&f) }

// LingerOnClose makes Close wait until the client stops sending, so that it receives the response.
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

// lingerTime and lingerBytes bound drain.
const (
	lingerTime  = 2 * time.Second
	lingerBytes = 16 << 20
)

// drain reads what the client still sends. Closing at once would reset the connection, and the
// client might lose the response.
func drain(c net.Conn) {
	_ = closeWrite(c)
	_ = c.SetReadDeadline(time.Now().Add(lingerTime))
	_, _ = io.CopyN(io.Discard, c, lingerBytes)
}
