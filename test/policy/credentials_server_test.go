package policy

import (
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/troupe-api/troupe/policy/kubeconfig"
	"github.com/troupe-api/troupe/test/client"
	"github.com/troupe-api/troupe/test/client/pki"
)

// A credentialServer records the credentials of its clients, and rejects those in refuse.
type credentialServer struct {
	*httptest.Server
	mu       sync.Mutex
	refuse   map[string]bool // Authorization headers that get status code 401
	headers  []string        // Authorization of each request
	names    []string        // common names of the client certificates
	accepted int             // connections
	bodies   []string
	last     http.Header
}

func serveCredentials(t *testing.T) *credentialServer {
	s := &credentialServer{refuse: map[string]bool{}}
	s.Server = httptest.NewUnstartedServer(s)
	s.TLS = &tls.Config{ClientAuth: tls.RequestClientCert}
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.mu.Lock()
			s.accepted++
			s.mu.Unlock()
		}
	}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

func (s *credentialServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	header, name := r.Header.Get("Authorization"), ""
	if certificates := r.TLS.PeerCertificates; len(certificates) > 0 {
		name = certificates[0].Subject.CommonName
	}
	s.headers, s.names, s.bodies, s.last = append(s.headers, header), append(s.names, name), append(s.bodies, string(body)), r.Header
	if s.refuse[header] || s.refuse[name] {
		w.WriteHeader(http.StatusUnauthorized)
	}
}

// cluster returns the server's kubeconfig cluster fields as YAML.
func (s *credentialServer) cluster() string {
	return fmt.Sprintf(`server: "%s", certificate-authority-data: %s`, s.URL, base64.StdEncoding.EncodeToString(pki.PEM(s.Certificate())))
}

func clientCredentials(t *testing.T, path string, programs kubeconfig.Programs) *http.Client {
	t.Helper()
	c, err := kubeconfig.Rules{Path: path, Programs: programs}.Load()
	if err != nil {
		t.Fatal(err)
	}
	transport := c.Transport(func() *http.Transport { return &http.Transport{ForceAttemptHTTP2: true} })
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: client.Watchdog}
}

// certificate returns a client certificate and its key as fields of an ExecCredential status.
func certificate(t *testing.T, name string) string {
	t.Helper()
	c := pki.Client(t, tls.Certificate{}, name)
	return fmt.Sprintf(`"clientCertificateData":%q,"clientKeyData":%q`, pki.PEM(c.Leaf), pki.ECKeyPEM(t, c.PrivateKey))
}
