package troupetest

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
)

// Credentials authenticate one user of a Server. Methods are safe for concurrent use.
type Credentials struct {
	t      testing.TB
	issued *daemon.Credentials
	client func() *http.Client
	file   func() string
}

func newCredentials(t testing.TB, issued *daemon.Credentials) *Credentials {
	c := &Credentials{t: t, issued: issued}
	c.client, c.file = sync.OnceValue(c.newClient), sync.OnceValue(c.writeFile)
	return c
}

// Kubeconfig returns a kubeconfig with the server's address and the embedded credentials.
func (c *Credentials) Kubeconfig() []byte { return c.issued.Kubeconfig() }

// KubeconfigFile returns the path of a kubeconfig file, which is removed when the test ends.
func (c *Credentials) KubeconfigFile() string {
	c.t.Helper()
	return c.file()
}

// Client returns an HTTP client that presents the credentials and trusts the server. Every call
// returns the same client. Its idle connections are closed when the test ends.
func (c *Credentials) Client() *http.Client {
	c.t.Helper()
	return c.client()
}

// TLS returns a new configuration that presents the credentials and trusts the server.
func (c *Credentials) TLS() *tls.Config {
	c.t.Helper()
	pair, err := tls.X509KeyPair(c.issued.Certificate, c.issued.Key)
	if err != nil {
		c.t.Fatalf("troupetest: %v", err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(c.issued.CA)
	return &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
}

// CA returns the server's CA in PEM.
func (c *Credentials) CA() []byte { return c.issued.CA }

// Certificate returns the client certificate in PEM.
func (c *Credentials) Certificate() []byte { return c.issued.Certificate }

// Key returns the client certificate's key in PEM.
func (c *Credentials) Key() []byte { return c.issued.Key }

func (c *Credentials) newClient() *http.Client {
	transport := &http.Transport{TLSClientConfig: c.TLS(), MaxIdleConnsPerHost: 64}
	c.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func (c *Credentials) writeFile() string {
	path := filepath.Join(c.t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, c.Kubeconfig(), 0o600); err != nil {
		c.t.Fatalf("troupetest: %v", err)
	}
	return path
}
