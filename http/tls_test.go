package http_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	nethttp "net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/http"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/policy/authn"
)

type certAuthenticator struct{}

func (certAuthenticator) Authenticate(r authn.Request) (*authn.User, error) {
	if len(r.Certs) == 0 {
		return nil, nil
	}
	return &authn.User{Name: r.Certs[0].Subject.CommonName}, nil
}

func certificate(tb testing.TB, name string) tls.Certificate {
	tb.Helper()
	key := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(tb)
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der := must.Get(x509.CreateCertificate(rand.Reader, c, c, key.Public(), key))(tb)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func withTLS(tb testing.TB) func(*http.Options) {
	return func(o *http.Options) {
		o.TLS = &tls.Config{Certificates: []tls.Certificate{certificate(tb, "server")}, ClientAuth: tls.RequestClientCert}
		o.Authenticator = certAuthenticator{}
	}
}

func TestClientCertificate(t *testing.T) {
	f := serve(t, withTLS(t))
	f.url = strings.Replace(f.url, "http:", "https:", 1)
	config := &tls.Config{InsecureSkipVerify: true}
	f.client = &nethttp.Client{Transport: &nethttp.Transport{TLSClientConfig: config}}
	defer f.client.CloseIdleConnections()
	if resp, _ := f.do("GET", configMapsPath, ""); resp.StatusCode != 401 {
		t.Errorf("without a certificate: %d", resp.StatusCode)
	}
	for name, want := range map[string]int{"jane": 403, "joe": 200} {
		config := config.Clone()
		config.Certificates = []tls.Certificate{certificate(t, name)}
		f.client = &nethttp.Client{Transport: &nethttp.Transport{TLSClientConfig: config}}
		if resp, body := f.do("GET", configMapsPath, ""); resp.StatusCode != want {
			t.Errorf("%s: %d %s", name, resp.StatusCode, body)
		}
		if want == 200 {
			resp, cancel := f.watch(configMapsPath + "?watch=1&timeoutSeconds=1")
			if text, err := io.ReadAll(resp.Body); err != nil || len(text) != 0 {
				t.Errorf("watch: %q %v", text, err)
			}
			cancel()
		}
		f.client.CloseIdleConnections()
	}
}

func TestPlainHTTPWhereTLSIsSpoken(t *testing.T) {
	f := serve(t, withTLS(t))
	for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"} {
		c := f.dial()
		body := strings.Repeat("x", 100<<10)
		go fmt.Fprintf(c, "%s / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", method, len(body), body)
		answer, err := io.ReadAll(c)
		if text := string(answer); err != nil || !strings.HasPrefix(text, "HTTP/1.0 400 Bad Request\r\n") ||
			!strings.HasSuffix(text, "\r\n\r\nClient sent an HTTP request to an HTTPS server.\n") {
			t.Errorf("%s: %q %v", method, text, err)
		}
		c.Close()
	}
	c := f.dial()
	defer c.Close()
	fmt.Fprint(c, "SSH-2.0-x\r\n")
	if answer, _ := io.ReadAll(c); strings.Contains(string(answer), "HTTP") {
		t.Errorf("to what is no HTTP: %q", answer)
	}
	f.url = strings.Replace(f.url, "http:", "https:", 1)
	config := &tls.Config{InsecureSkipVerify: true, Certificates: []tls.Certificate{certificate(t, "joe")}}
	f.client = &nethttp.Client{Transport: &nethttp.Transport{TLSClientConfig: config}}
	defer f.client.CloseIdleConnections()
	for range 2 { // on one connection
		_, text := f.do("GET", "/metrics", "")
		for _, series := range []string{"apiserver_tls_handshake_errors_total 8", "troupe_connections_accepted_total 9"} {
			if !strings.Contains(text, "\n"+series+"\n") {
				t.Errorf("%s is missing:\n%s", series, text)
			}
		}
	}
}

func (f *testServer) dial() net.Conn {
	f.Helper()
	_, address, _ := strings.Cut(f.url, "//")
	return must.Get(net.Dial("tcp", address))(f)
}

// TestSlowHandshakes tests that a thousand clients that never complete their handshake are
// disconnected without affecting others.
func TestSlowHandshakes(t *testing.T) {
	t.Parallel()
	f := serve(t, func(o *http.Options) {
		withTLS(t)(o)
		o.Limits.HandshakeTimeout = 5 * time.Second
	})
	slow := make([]net.Conn, 1000)
	for i := range slow {
		slow[i] = f.dial()
		defer slow[i].Close()
		if i%2 == 1 {
			fmt.Fprint(slow[i], "\x16\x03\x01") // the start of a handshake
		}
	}
	f.url = strings.Replace(f.url, "http:", "https:", 1)
	config := &tls.Config{InsecureSkipVerify: true, Certificates: []tls.Certificate{certificate(t, "joe")}}
	f.client = &nethttp.Client{Transport: &nethttp.Transport{TLSClientConfig: config}}
	defer f.client.CloseIdleConnections()
	if resp, body := f.do("GET", configMapsPath, ""); resp.StatusCode != 200 {
		t.Errorf("beside slow ones: %d %s", resp.StatusCode, body)
	}
	for i, c := range slow {
		must.Succeed(t, c.SetReadDeadline(time.Now().Add(time.Minute)))
		if n, err := c.Read(make([]byte, 1)); n > 0 || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("connection %d: %d bytes, %v", i, n, err)
		}
	}
}

func TestShutdownIsOrderly(t *testing.T) {
	t.Parallel()
	f := serve(t, func(o *http.Options) { o.ShutdownDelay = 5 * time.Second }) // long enough for the checks
	down := make(chan struct{})
	go func() {
		defer close(down)
		f.stop()
	}()
	for {
		if resp, body := f.do("GET", "/readyz", ""); resp.StatusCode == 500 {
			if want := "[-]shutdown failed: reason withheld\nreadyz check failed\n"; !strings.HasSuffix(body, want) {
				t.Errorf("readyz: %q", body)
			}
			break
		}
	}
	if resp, _ := f.do("GET", "/livez", ""); resp.StatusCode != 200 {
		t.Errorf("livez: %d", resp.StatusCode)
	}
	f.client.CloseIdleConnections()
	<-down
}
