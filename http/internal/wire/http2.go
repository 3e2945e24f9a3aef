package wire

import (
	"context"
	"log"
	"net"
	"net/http"
	"sync"
	"time"
)

// The bounds of connections with HTTP/2, beside those of all.
const (
	// maxUnknownStreams are the requests at a time, of all connections, of which it is not known yet who asks. Each holds a head.
	maxUnknownStreams = 4096
	// streamWindow and connectionWindow are what a client may send of the bodies of one request, and of all, before somebody reads it.
	streamWindow     = 64 << 10
	connectionWindow = 1 << 20
)

// protocolHTTP2 is the name of HTTP/2 in the handshake of TLS (ALPN).
const protocolHTTP2 = "h2"

// An http2Server serves the connections whose clients have chosen HTTP/2.
//
// The protocol is that of net/http: frames, compression of heads, flow control, the end of a connection. It is given the connection without its
// TLS. What it makes of a request is given to the same loop as a request of HTTP/1.1, by a Conn whose bytes are those of a stream: there is one
// front, and a request has one meaning.
type http2Server struct {
	protocol http.Server
	chosen   chan *multiplexedConn // those that the protocol is to serve
	ended    chan struct{}         // closed by end
	end      func()                // tells all clients that their connections take no more requests; those that are under way are answered
}

func newHTTP2Server(o Options) *http2Server {
	s := &http2Server{chosen: make(chan *multiplexedConn), ended: make(chan struct{})}
	s.protocol = http.Server{
		Handler: http.HandlerFunc(serveMultiplexed),
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, multiplexerKey{}, c.(*multiplexedConn).mux)
		},
		Protocols: new(http.Protocols), MaxHeaderBytes: largeReadBufferSize,
		ReadHeaderTimeout: o.ReadTimeout, IdleTimeout: o.IdleTimeout, ErrorLog: log.New(debugWriter{debugLogger{o.Log}}, "", 0),
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: o.HTTP2MaxStreams, MaxReceiveBufferPerStream: streamWindow, MaxReceiveBufferPerConnection: connectionWindow,
		},
	}
	s.protocol.Protocols.SetUnencryptedHTTP2(true)
	s.end = sync.OnceFunc(func() {
		close(s.ended)
		now, cancel := context.WithCancel(context.Background())
		cancel()
		_ = s.protocol.Shutdown(now) // Connections waits
	})
	return s
}

// serve lets the protocol have the connections, until the end.
func (s *http2Server) serve() {
	_ = s.protocol.Serve(s) // says only that it has ended
}

// Accept implements net.Listener.
func (s *http2Server) Accept() (net.Conn, error) {
	select {
	case c := <-s.chosen:
		return c, nil
	case <-s.ended:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (s *http2Server) Close() error { return nil }

// Addr implements net.Listener.
func (s *http2Server) Addr() net.Addr { return &net.TCPAddr{} }

// serveHTTP2 serves a connection until its end.
func (c *Conn) serveHTTP2() {
	c.Pause()
	c.scheduled = false
	if c.Conn.SetReadDeadline(time.Time{}) != nil {
		return
	}
	m := &multiplexer{conn: c}
	m.gone.L = &m.mu
	c.mu.Lock()
	c.phase, c.multiplexed = phaseIdle, true
	c.mu.Unlock()
	served := &multiplexedConn{Conn: c.Conn, mux: m, closed: make(chan struct{})}
	select {
	case c.all.http2.chosen <- served:
		<-served.closed
		m.end()
	case <-c.all.http2.ended:
	}
}

// A multiplexedConn is a connection as the protocol sees it. It stays among those that are open until its last request has been answered.
type multiplexedConn struct {
	net.Conn
	mux    *multiplexer
	once   sync.Once
	closed chan struct{}
}

// Close ends the connection.
func (c *multiplexedConn) Close() error {
	defer c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

// Write sends frames, with a bound on the time that the client may take.
func (c *multiplexedConn) Write(b []byte) (int, error) {
	growStack(len(b))
	return c.mux.conn.Write(b)
}

// growStack makes the stack of a new goroutine as large at once as what follows needs. The protocol starts one for each request and one
// for each write; they would grow step by step, and be copied each time.
//
//go:noinline
func growStack(n int) byte {
	var room [6 << 10]byte
	return room[n&1023]
}

// A multiplexer gives each request of a connection a Conn of its own. Conns are used again, the latest first, so that what a connection
// knows of its client is known to the next request.
type multiplexer struct {
	conn *Conn

	mu     sync.Mutex // guards the rest
	gone   sync.Cond  // told when active becomes 0
	idle   []*Conn
	active int
	ended  bool
	// known: the user of the last request that said so was no anonymous one. seen: there was one.
	known, seen bool
}

// multiplexerKey is the key of a connection's multiplexer in the contexts of its requests.
type multiplexerKey struct{}

// serveMultiplexed serves one request.
func serveMultiplexed(w http.ResponseWriter, r *http.Request) {
	growStack(len(r.Method))
	r.Context().Value(multiplexerKey{}).(*multiplexer).serve(w, r)
}

// serve serves one request. It panics, as the protocol wants it, where the answer ends before it is whole.
func (m *multiplexer) serve(w http.ResponseWriter, r *http.Request) {
	c := m.take()
	if c == nil {
		panic(http.ErrAbortHandler)
	}
	whole := false
	defer func() {
		if !whole {
			panic(http.ErrAbortHandler) // the client must not take what it has for all of the answer
		}
	}()
	s := c.stream
	s.begin(w.(responseControl), r)
	again := c.serveStream()
	s.awaitRelease(again)
	whole = s.finish(again)
	m.give(c, again)
}

// take is a Conn for a request; nil: there is no more room, or the connection has ended.
func (m *multiplexer) take() *Conn {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ended {
		return nil
	}
	var c *Conn
	if n := len(m.idle); n > 0 {
		c, m.idle = m.idle[n-1], m.idle[:n-1]
	} else {
		c = m.newConn()
	}
	if !c.authenticated.Load() {
		if m.conn.all.unknownStreams.Add(1) > maxUnknownStreams {
			m.conn.all.unknownStreams.Add(-1)
			m.conn.all.scheduler.forget(c)
			return nil
		}
		c.stream.unknown = true
	}
	if m.active++; m.active == 1 {
		m.conn.setMultiplexPhase(phaseActive)
	}
	return c
}

// newConn makes a Conn for requests of the connection.
func (m *multiplexer) newConn() *Conn {
	s := &stream{mux: m}
	c := newConn(s, m.conn.all)
	c.stream, c.tls, c.certs = s, m.conn.tls, m.conn.certs
	c.handler = c.all.opts.NewHandler(c)
	c.all.scheduler.assign(c, addressClient(c.entry))
	return c
}

// give takes a Conn back whose request has ended; again: it can serve another one.
func (m *multiplexer) give(c *Conn, again bool) {
	c.stream.setKnown()
	m.mu.Lock()
	defer m.mu.Unlock()
	if again && !m.ended {
		m.idle = append(m.idle, c)
	} else if again {
		m.conn.all.scheduler.forget(c)
	}
	if m.active--; m.active == 0 {
		m.gone.Broadcast()
		m.conn.setMultiplexPhase(phaseIdle)
	}
}

// end waits until no request is under way any more, of a connection that is closed.
func (m *multiplexer) end() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ended = true
	for m.active > 0 {
		m.gone.Wait()
	}
	for _, c := range m.idle {
		m.conn.all.scheduler.forget(c)
	}
	m.idle = nil
}

// markSeen notes on the connection what one of its requests has shown.
func (m *multiplexer) markSeen(known bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.seen && m.known == known {
		return
	}
	m.seen, m.known = true, known
	m.conn.authenticated.Store(known)
	m.conn.all.markRequestSeen(m.conn, known)
}

// setMultiplexPhase says whether the connection may be closed to let others in. The protocol has its own deadlines.
func (c *Conn) setMultiplexPhase(p phase) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.phase = p
}

// debugWriter is a debugLogger for a log.Logger.
type debugWriter struct{ debugLogger }

// Write implements io.Writer.
func (w debugWriter) Write(line []byte) (int, error) {
	w.Printf("%s", line)
	return len(line), nil
}
