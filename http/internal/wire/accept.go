package wire

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"syscall"
	"time"
)

// The time between two attempts to accept a connection after one has failed, at first and at most,
// and the least time between two lines in the log about that.
const (
	minAcceptDelay    = time.Millisecond
	maxAcceptDelay    = time.Second
	acceptLogInterval = time.Minute
)

// Serve accepts connections until close, and returns nil then. That the process has no descriptors
// left, or that a client has gone again before it was accepted, ends nothing: it goes on when it can.
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
			r.opts.Log.Error("connections cannot be accepted; trying again", "error", err)
		}
		pause = min(max(2*pause, minAcceptDelay), maxAcceptDelay)
		if isResourceExhausted(err) && r.shed() {
			pause = minAcceptDelay // its descriptor is free in a moment
		}
		select {
		case <-time.After(pause):
		case <-r.closed:
			return nil
		}
	}
}

// isPermanentAcceptError tells errors of a listener that will never accept again.
func isPermanentAcceptError(err error) bool {
	return errors.Is(err, syscall.EBADF) || errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSOCK) ||
		errors.Is(err, syscall.EOPNOTSUPP) || errors.Is(err, syscall.EFAULT)
}

// isResourceExhausted tells that there are no descriptors left, or no memory for one more.
func isResourceExhausted(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) ||
		errors.Is(err, syscall.ENOBUFS) || errors.Is(err, syscall.ENOMEM)
}

// accept serves a connection on a goroutine of its own, if it may come in.
func (r *Connections) accept(raw net.Conn) {
	c := newConn(raw, r)
	if r.opts.TLS != nil {
		c.tls = tls.Server(c.Conn, r.tlsConfig())
		c.Conn = c.tls
	}
	if !r.add(c) {
		_ = raw.Close() // refused without an answer
		return
	}
	c.handler = r.opts.NewHandler(c)
	go c.serve()
}

// tlsConfig returns the configuration of a handshake. A tls.Config in use must not change, so other client CAs get
// another one.
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

// newConnEntry tells whose connection it is. With IPv6 one client has a whole network of 64 bits, so
// that is what is counted as one address.
func newConnEntry(remote net.Addr) connEntry {
	tcp, ok := remote.(*net.TCPAddr)
	if !ok {
		return connEntry{local: true} // a socket of this machine
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
