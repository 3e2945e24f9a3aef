package wire

import (
	"context"
	"log"
	"net"
	"net/http"
	"sync"
	"time"
)

const (
	// streamWindow limits the unread bytes of one request body, and connectionWindow those of all
	// bodies on a connection.
	streamWindow     = 64 << 10
	connectionWindow = 1 << 20
)

const protocolHTTP2 = "h2"

// An http2Server serves HTTP/2 connections.
//
// net/http handles the protocol on the decrypted connection. Each request then runs through the
// HTTP/1.1 serving loop, with its own Conn on top of a stream.
type http2Server struct {
	protocol http.Server
	chosen   chan *multiplexedConn // to be served by net/http
	ended    chan struct{}         // closed by end
	end      func()                // rejects new requests on all connections; pending ones complete
}

func newHTTP2Server(o Options) *http2Server {
	s := &http2Server{chosen: make(chan *multiplexedConn), ended: make(chan struct{})}
	s.protocol = http.Server{
		Handler: http.HandlerFunc(serveMultiplexed),
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, multiplexerKey{}, c.(*multiplexedConn).mux)
		},
		Protocols: new(http.Protocols), MaxHeaderBytes: largeReadBufferSize,
		// This deadline also applies to net/http's own error responses.
		WriteTimeout:      o.WriteTimeout,
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

func (s *http2Server) serve() {
	_ = s.protocol.Serve(s) // returns only when the server ends
}

func (s *http2Server) Accept() (net.Conn, error) {
	select {
	case c := <-s.chosen:
		return c, nil
	case <-s.ended:
		return nil, net.ErrClosed
	}
}

func (s *http2Server) Close() error { return nil }

func (s *http2Server) Addr() net.Addr { return &net.TCPAddr{} }

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

// A multiplexedConn is the connection passed to net/http. It remains in Connections until its last
// request has completed.
type multiplexedConn struct {
	net.Conn
	mux    *multiplexer
	once   sync.Once
	closed chan struct{}
}

func (c *multiplexedConn) Close() error {
	defer c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

// Write writes frames with the connection's write deadline.
func (c *multiplexedConn) Write(b []byte) (int, error) {
	growStack(len(b))
	return c.mux.conn.Write(b)
}

// growStack grows the stack of a new goroutine once instead of several times. net/http starts a
// goroutine for each request and each write.
//
//go:noinline
func growStack(n int) byte {
	var room [6 << 10]byte
	return room[n&1023]
}

// A multiplexer gives each request of a connection its own Conn. It prefers the most recently used
// idle Conn, which has cached the client's authentication.
type multiplexer struct {
	conn *Conn

	mu     sync.Mutex // guards the fields below
	gone   sync.Cond  // signaled when active becomes 0
	idle   []*Conn
	active int
	ended  bool
	// seen means that a request has been sent, and known that the last one was authenticated.
	known, seen bool
}

type multiplexerKey struct{}

func serveMultiplexed(w http.ResponseWriter, r *http.Request) {
	growStack(len(r.Method))
	r.Context().Value(multiplexerKey{}).(*multiplexer).serve(w, r)
}

// serve handles one request. It panics with http.ErrAbortHandler if the response is incomplete, so
// that net/http resets the stream.
func (m *multiplexer) serve(w http.ResponseWriter, r *http.Request) {
	c := m.take()
	if c == nil {
		panic(http.ErrAbortHandler)
	}
	whole := false
	defer func() {
		if !whole {
			panic(http.ErrAbortHandler) // the client must detect the truncation
		}
	}()
	s := c.stream
	s.begin(w.(responseControl), r)
	s.limitWrites()
	again := c.serveStream()
	s.awaitRelease(again)
	whole = s.finish(again)
	m.give(c, again)
}

// take returns a Conn for a request. It returns nil after end, or if there are too many requests
// from unknown users.
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
	if !c.authenticated.Load() && !c.all.unknown.add(c) {
		c.endTurn()
		return nil
	}
	if m.active++; m.active == 1 {
		m.conn.setMultiplexPhase(phaseActive)
	}
	return c
}

func (m *multiplexer) newConn() *Conn {
	s := &stream{mux: m}
	c := newConn(s, m.conn.all)
	s.conn = c
	c.stream, c.tls, c.certs = s, m.conn.tls, m.conn.certs
	c.handler = c.all.opts.NewHandler(c)
	return c
}

// give returns a Conn to the multiplexer after its request. The Conn is reused if again is set.
func (m *multiplexer) give(c *Conn, again bool) {
	c.setKnown()
	m.mu.Lock()
	defer m.mu.Unlock()
	if again && !m.ended {
		m.idle = append(m.idle, c)
	} else if again {
		c.endTurn()
	}
	if m.active--; m.active == 0 {
		m.gone.Broadcast()
		m.conn.setMultiplexPhase(phaseIdle)
	}
}

func (m *multiplexer) end() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ended = true
	for m.active > 0 {
		m.gone.Wait()
	}
	for _, c := range m.idle {
		c.endTurn()
	}
	m.idle = nil
}

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

func (c *Conn) setMultiplexPhase(p phase) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.phase = p
}

type debugWriter struct{ debugLogger }

func (w debugWriter) Write(line []byte) (int, error) {
	w.Printf("%s", line)
	return len(line), nil
}
