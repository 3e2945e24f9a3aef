package daemon

import (
	"crypto/tls"
	"fmt"
	"net"
	"os"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/certs"
)

// An identity is what the server proves itself with.
type identity struct {
	set     certs.Set
	serving tls.Certificate
	trust   []byte // PEM: what clients are to trust
}

func newIdentity(c Config, naming *meta.Naming) (*identity, error) {
	set, err := certs.Store{Dir: c.certDir()}.Ensure(servingNames(c.Serving.BindAddress, naming))
	if err != nil {
		return nil, fmt.Errorf("certificates: %w", err)
	}
	id := &identity{set: set, serving: set.Server.TLS(), trust: set.CA.CertPEM}
	if c.TLS.CertFile != "" {
		if id.serving, err = tls.LoadX509KeyPair(c.TLS.CertFile, c.TLS.PrivateKeyFile); err != nil {
			return nil, fmt.Errorf("serving certificate: %w", err)
		}
		if id.trust, err = os.ReadFile(c.TLS.CertFile); err != nil {
			return nil, err
		}
	}
	return id, nil
}

// tlsConfig asks for client certificates and leaves their verification to package authn,
// which can answer 401.
func (id *identity) tlsConfig() *tls.Config {
	return &tls.Config{
		MinVersion:   tls.VersionTLS12,
		Certificates: []tls.Certificate{id.serving},
		ClientAuth:   tls.RequestClientCert,
		NextProtos:   []string{"http/1.1"},
	}
}

// servingNames are the names by which clients may reach the server: this machine's, the
// address that it listens on, and those of the API's own service.
func servingNames(bind string, naming *meta.Naming) []string {
	service := naming.Name("platform")
	names := []string{"localhost", "127.0.0.1", "::1"}
	for _, suffix := range []string{"", ".default", ".default.svc", ".default.svc.cluster.local"} {
		names = append(names, service+suffix)
	}
	if ip := net.ParseIP(bind); ip != nil && !ip.IsUnspecified() && !ip.IsLoopback() {
		names = append(names, ip.String())
	}
	if host, err := os.Hostname(); err == nil && isHostName(host) {
		names = append(names, host)
	}
	return names
}

// isHostName tells whether a certificate can carry the name.
func isHostName(s string) bool {
	plain := func(r rune) bool {
		return r == '-' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
	}
	return s != "" && strings.Trim(s, ".-") == s && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0
}
