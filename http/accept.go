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
	firstRetry  = time.Millisecond
	lastRetry   = time.Second
	retryNotice = time.Minute
)

// Serve serves until Shutdown. It returns nil after a shutdown. That the process has no
// descriptors left, or that a client has gone again, ends nothing: it goes on when it can.
func (s *Server) Serve() error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go s.guardWatches(ctx)
	var pause time.Duration
	var noticed time.Time
	for {
		raw, err := s.opts.Listener.Accept()
		if err == nil {
			pause = 0
			s.welcome(raw)
			continue
		}
		if errors.Is(err, net.ErrClosed) || errors.Is(err, io.EOF) {
			return nil
		}
		if broken(err) {
			return err
		}
		s.metrics.acceptErrors.Add(1)
		if time.Since(noticed) > retryNotice {
			noticed = time.Now()
			s.log.Error("http: connections cannot be accepted; trying on", "error", err)
		}
		pause = min(max(2*pause, firstRetry), lastRetry)
		if starved(err) && s.connections.yield() {
			pause = firstRetry // its descriptor is free in a moment
		}
		select {
		case <-time.After(pause):
		case <-s.closing:
			return nil
		}
	}
}

// broken tells errors of a listener that will never accept again.
func broken(err error) bool {
	return errors.Is(err, syscall.EBADF) || errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSOCK) ||
		errors.Is(err, syscall.EOPNOTSUPP) || errors.Is(err, syscall.EFAULT)
}

// starved tells that there are no descriptors left, or no memory for one more.
func starved(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) ||
		errors.Is(err, syscall.ENOBUFS) || errors.Is(err, syscall.ENOMEM)
}

// welcome serves a connection on a goroutine of its own, if it may come in.
func (s *Server) welcome(raw net.Conn) {
	c := &conn{Conn: raw, raw: raw, server: s, place: placeOf(raw.RemoteAddr())}
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

// placeOf tells whose connection it is. Of IPv6, one client has a whole network of 64 bits.
func placeOf(remote net.Addr) place {
	tcp, ok := remote.(*net.TCPAddr)
	if !ok {
		return place{local: true} // a socket of this machine
	}
	a := plainAddress(tcp.AddrPort().Addr())
	p := place{address: a, local: a.IsLoopback()}
	if a.Is6() {
		if network, err := a.Prefix(64); err == nil {
			p.address = network.Addr()
		}
	}
	return p
}
