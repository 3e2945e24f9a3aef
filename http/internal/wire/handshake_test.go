package wire

import (
	"crypto/tls"
	"log/slog"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/troupe-api/troupe/internal/must"
)

// A pipeListener accepts the connections that a test sends to it.
type pipeListener chan net.Conn

func (l pipeListener) Accept() (net.Conn, error) {
	if c, ok := <-l; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (l pipeListener) Addr() net.Addr { return &net.TCPAddr{} }
func (l pipeListener) Close() error   { return nil }

// TestFirstRequest checks that the first request may arrive after the handshake timeout, as on a
// connection opened in advance.
func TestFirstRequest(t *testing.T) {
	certificate := newCertificate(t)
	synctest.Test(t, func(t *testing.T) {
		l, came, served := make(pipeListener), make(chan *Conn, 1), make(chan error)
		all := New(Options{
			MaxConnections: 10, HandshakeTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second, IdleTimeout: time.Minute, WriteTimeout: time.Minute,
			TLS: &tls.Config{Certificates: []tls.Certificate{certificate}, SessionTicketsDisabled: true},
			Log: slog.New(slog.DiscardHandler), NewHandler: func(c *Conn) Handler { return connReporter{c, came} },
		})
		go func() { served <- all.Serve(l) }()
		server, pipe := net.Pipe()
		l <- server
		client := tls.Client(pipe, &tls.Config{InsecureSkipVerify: true})
		must.Succeed(t, client.Handshake())
		time.Sleep(20 * time.Second)
		must.Get(client.Write([]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n")))(t)
		<-came
		must.Succeed(t, pipe.Close())
		all.Close()
		close(l)
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
}
