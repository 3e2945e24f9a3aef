package http

import (
	"context"
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

// Serve serves until Shutdown. It returns nil after a shutdown. That the process has no
// descriptors left, or that a client has gone again, ends nothing: it goes on when it can.
func (s *Server) Serve() error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go s.reauthorizeWatches(ctx)
	var pause time.Duration
	var noticed time.Time
	for {
		raw, err := s.opts.Listener.Accept()
		if err == nil {
			pause = 0
			s.acceptConn(raw)
			continue
		}
		if errors.Is(err, net.ErrClosed) || errors.Is(err, io.EOF) {
			return nil
		}
		if isPermanentAcceptError(err) {
			return err
		}
		s.metrics.acceptErrors.Add(1)
		if time.Since(noticed) > acceptLogInterval {
			noticed = time.Now()
			s.log.Error("http: connections cannot be accepted; trying on", "error", err)
		}
		pause = min(max(2*pause, minAcceptDelay), maxAcceptDelay)
		if isResourceExhausted(err) && s.connections.shed() {
			pause = minAcceptDelay // its descriptor is free in a moment
		}
		select {
		case <-time.After(pause):
		case <-s.closing:
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

// acceptConn serves a connection on a goroutine of its own, if it may come in.
func (s *Server) acceptConn(raw net.Conn) {
	c := &conn{Conn: raw, raw: raw, server: s, entry: newConnEntry(raw.RemoteAddr())}
	if s.opts.TLS != nil {
		c.tls = tls.Server(raw, s.opts.TLS)
		c.Conn = c.tls
	}
	if !s.connections.add(c) {
		_ = raw.Close() // nobody is told
		return
	}
	go s.serveConn(c)
}

// newConnEntry tells whose connection it is. Of IPv6, one client has a whole network of 64 bits.
func newConnEntry(remote net.Addr) connEntry {
	tcp, ok := remote.(*net.TCPAddr)
	if !ok {
		return connEntry{local: true} // a socket of this machine
	}
	a := normalizeAddr(tcp.AddrPort().Addr())
	p := connEntry{address: a, local: a.IsLoopback()}
	if a.Is6() {
		if network, err := a.Prefix(64); err == nil {
			p.address = network.Addr()
		}
	}
	return p
}
