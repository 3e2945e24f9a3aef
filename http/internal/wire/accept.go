package wire

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/netip"
	"syscall"
	"time"
)

// The delay before a failed accept is retried grows from minAcceptDelay to maxAcceptDelay. Failures
// are logged at most once per acceptLogInterval.
const (
	minAcceptDelay    = time.Millisecond
	maxAcceptDelay    = time.Second
	acceptLogInterval = time.Minute
)

// Serve accepts connections until Close, and then returns nil. It retries if the process runs out
// of file descriptors or a client disconnects early.
func (r *Connections) Serve(l net.Listener) error {
	if r.http2 != nil {
		go r.http2.serve()
	}
	var pause time.Duration
	var logged time.Time
	for {
		raw, err := l.Accept()
		if err == nil {
			pause = 0
			r.accept(raw)
			continue
		}
		if errors.Is(err, net.ErrClosed) || errors.Is(err, io.EOF) {
			return nil
		}
		if isPermanentAcceptError(err) {
			return err
		}
		r.acceptErrors.Add(1)
		if time.Since(logged) > acceptLogInterval {
			logged = time.Now()
			r.opts.Log.Error("cannot accept connections; retrying", "error", err)
		}
		pause = min(max(2*pause, minAcceptDelay), maxAcceptDelay)
		if isResourceExhausted(err) && r.shed() {
			pause = minAcceptDelay // the evicted connection frees its descriptor
		}
		select {
		case <-time.After(pause):
		case <-r.closed:
			return nil
		}
	}
}

func isPermanentAcceptError(err error) bool {
	return errors.Is(err, syscall.EBADF) || errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSOCK) ||
		errors.Is(err, syscall.EOPNOTSUPP) || errors.Is(err, syscall.EFAULT)
}

func isResourceExhausted(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) ||
		errors.Is(err, syscall.ENOBUFS) || errors.Is(err, syscall.ENOMEM)
}

func (r *Connections) accept(raw net.Conn) {
	c := newConn(raw, r)
	if r.opts.TLS != nil {
		c.tls = tls.Server(c.Conn, r.tlsConfig())
		c.Conn = c.tls
	}
	if !r.add(c) {
		c.setPrincipal(nil)
		_ = raw.Close() // rejected without a response
		return
	}
	c.handler = r.opts.NewHandler(c)
	go c.serve()
}

// tlsConfig returns the config for a handshake. If the client CAs have changed, it clones the
// config, because a tls.Config in use must not be modified.
func (r *Connections) tlsConfig() *tls.Config {
	if r.opts.ClientCAs == nil {
		return r.opts.TLS
	}
	pool := r.opts.ClientCAs()
	if current := r.tls.Load(); current != nil && current.ClientCAs == pool {
		return current
	}
	next := r.opts.TLS.Clone()
	next.ClientCAs = pool
	r.tls.Store(next)
	return next
}

// newConnEntry returns the list entry of a new connection. An IPv6 /64 network counts as one
// address, because a client usually has the whole network.
func newConnEntry(remote net.Addr) connEntry {
	tcp, ok := remote.(*net.TCPAddr)
	if !ok {
		return connEntry{address: netip.IPv6LinkLocalAllNodes(), local: true} // a local socket
	}
	a := tcp.AddrPort().Addr().Unmap().WithZone("")
	p := connEntry{address: a, local: a.IsLoopback()}
	if a.Is6() {
		if network, err := a.Prefix(64); err == nil {
			p.address = network.Addr()
		}
	}
	return p
}
