package wire

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"math/big"
	"net"
	"runtime"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/troupe-api/troupe/internal/must"
)

func newCertificate(t *testing.T) tls.Certificate {
	t.Helper()
	key := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der := must.Get(x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key))(t)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

type connReporter struct {
	c    *Conn
	came chan<- *Conn
}

func (r connReporter) ServeRequest(*fasthttp.RequestCtx)    { r.came <- r.c }
func (connReporter) RejectHead(*fasthttp.RequestCtx, error) {}
func (connReporter) ReplaceUnwritable(r *fasthttp.Response) {}

func TestCertificatesAreShared(t *testing.T) {
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	came := make(chan *Conn)
	all := New(Options{
		MaxConnections: 10, HandshakeTimeout: time.Minute, ReadTimeout: time.Minute, IdleTimeout: time.Minute, WriteTimeout: time.Minute,
		TLS: &tls.Config{Certificates: []tls.Certificate{newCertificate(t)}, ClientAuth: tls.RequestClientCert},
		Log: slog.New(slog.DiscardHandler), NewHandler: func(c *Conn) Handler { return connReporter{c, came} },
	})
	served := make(chan error)
	go func() { served <- all.Serve(l) }()
	first, other := newCertificate(t), newCertificate(t)
	connect := func(certificate tls.Certificate) *Conn {
		client := must.Get(tls.Dial("tcp", l.Addr().String(), &tls.Config{InsecureSkipVerify: true, Certificates: []tls.Certificate{certificate}}))(t)
		t.Cleanup(func() { _ = client.Close() })
		must.Get(client.Write([]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n")))(t)
		return <-came
	}
	a, b, c := connect(first), connect(first), connect(other)
	if a.ClientCerts()[0] != b.ClientCerts()[0] || a.ClientCerts()[0].Equal(c.ClientCerts()[0]) {
		t.Error("connections of one client do not share its certificate, or others do")
	}
	if a.ConnectionState().PeerCertificates[0] != b.ConnectionState().PeerCertificates[0] {
		t.Error("TLS holds a certificate of its own for each connection, so that nothing is saved")
	}
	all.Close()
	_ = l.Close()
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// TestCertificatesAreForgotten tests that unused certificates are dropped, and that new ones are
// shared again when the client returns.
func TestCertificatesAreForgotten(t *testing.T) {
	parse := func(der []byte) *x509.Certificate {
		return must.Get(x509.ParseCertificate(der))(t)
	}
	der := newCertificate(t).Certificate[0]
	var s certificates
	first := s.canonical(parse(der))
	if s.canonical(parse(der)) != first {
		t.Error("two equal certificates are held")
	}
	digest := sha256.Sum256(der)
	// The runtime also calls forget when it collects the certificate, possibly before this call.
	forget := func() int {
		s.forget(digest)
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.known)
	}
	if forget() != 1 {
		t.Error("a certificate that is held is forgotten")
	}
	runtime.KeepAlive(first)
	first = nil
	runtime.GC()
	if forget() != 0 {
		t.Error("an unused certificate is kept")
	}
}
