package daemon

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/certs"
)

// An identity is what the server proves itself with, and the authorities of the certificates that it
// trusts. Its reloader keeps all of them current.
type identity struct {
	ownCerts *certs.Manager
	pair     *certs.FilePair // of --tls-cert-file; nil if not given
	serving  *certs.SNICertificates
	reloader *certs.Reloader
	options  TLS
}

func (d *Daemon) openIdentity() (err error) {
	d.identity, err = newIdentity(d.config, d.naming, d.log)
	return err
}

func newIdentity(c Config, naming *meta.Naming, log *slog.Logger) (*identity, error) {
	id := &identity{reloader: certs.NewReloader(log), options: c.TLS}
	var err error
	id.ownCerts, err = certs.Store{Dir: c.certDir(), Admin: naming.Translate(certs.AdminName)}.Open(servingNames(c.Serving.BindAddress, naming))
	if err != nil {
		return nil, fmt.Errorf("certificates: %w", err)
	}
	if err := id.ownCerts.Warning(); err != nil {
		log.Warn("certificates", "error", err)
	}
	id.reloader.Add("own", id.ownCerts.Renew)
	fallback := id.ownCerts.Certificate
	if c.TLS.CertFile != "" {
		if id.pair, err = certs.LoadFilePair(c.TLS.CertFile, c.TLS.PrivateKeyFile); err != nil {
			return nil, fmt.Errorf("--tls-cert-file and --tls-private-key-file: %w", err)
		}
		id.reloader.Add("serving", id.pair.Refresh)
		fallback = id.pair.Certificate
	}
	named, err := c.TLS.namedPairs()
	if err != nil {
		return nil, fmt.Errorf("--tls-sni-cert-key: %w", err)
	}
	id.serving = certs.NewSNICertificates(fallback, named...)
	if len(named) > 0 {
		id.reloader.Add("sni", id.serving.Refresh)
	}
	return id, nil
}

// namedPairs are the certificates of --tls-sni-cert-key.
func (t TLS) namedPairs() ([]*certs.FilePair, error) {
	var pairs []*certs.FilePair
	for _, text := range t.SNICertKeys {
		n, err := certs.ParseNamedCertKey(text)
		if err != nil {
			return nil, err
		}
		pair, err := certs.LoadFilePair(n.CertFile, n.KeyFile, n.Names...)
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, pair)
	}
	return pairs, nil
}

// certificates is the daemon's own certificates as they are now; they are renewed while it runs.
func (id *identity) certificates() certs.Set { return id.ownCerts.Set() }

// servingKey is the PEM text of the private key of the serving certificate.
func (id *identity) servingKey() []byte {
	if id.pair != nil {
		return id.pair.KeyPEM()
	}
	return id.ownCerts.Set().Server.KeyPEM
}

// trustBundle is the PEM text of what clients are to trust.
func (id *identity) trustBundle() []byte {
	if id.pair != nil {
		return id.pair.PEM()
	}
	return id.ownCerts.Set().CA.CertPEM
}

// clientCAs are the authorities of client certificates: the daemon's own CA and those in
// file, if one is named.
func (id *identity) clientCAs(file string) (*certs.CAs, error) {
	sources := []certs.Source{id.ownCerts.CABundle}
	if file != "" {
		sources = append(sources, certs.FileSource(file))
	}
	return id.authorities("client-ca", sources...)
}

// proxyCAs are the authorities of the certificates of authenticating proxies.
func (id *identity) proxyCAs(file string) (*certs.CAs, error) {
	return id.authorities("requestheader-client-ca", certs.FileSource(file))
}

func (id *identity) authorities(name string, sources ...certs.Source) (*certs.CAs, error) {
	cas, err := certs.NewCAs(sources...)
	if err != nil {
		return nil, err
	}
	id.reloader.Add(name, cas.Refresh)
	return cas, nil
}

// runReloader keeps everything current until the context ends. Nothing is added to the reloader from
// then on.
func (id *identity) runReloader(ctx context.Context) {
	id.reloader.Run(ctx, time.Duration(id.options.ReloadPeriod))
}

// tlsConfig asks for client certificates and leaves their verification to package authn,
// which can answer 401. Sessions are resumed; a resumed one has the certificate of its
// first handshake, which is verified again with each request.
func (id *identity) tlsConfig() (*tls.Config, error) {
	least, err := certs.ParseTLSVersion(id.options.MinVersion)
	if err != nil {
		return nil, err
	}
	suites, _, err := certs.ParseCipherSuites(id.options.CipherSuites)
	if err != nil {
		return nil, err
	}
	return &tls.Config{
		MinVersion:     least,
		CipherSuites:   suites,
		GetCertificate: id.serving.GetCertificate,
		ClientAuth:     tls.RequestClientCert,
		NextProtos:     []string{"http/1.1"},
	}, nil
}

// servingNames are the names by which clients may reach the server: this machine's, the
// address that it listens on, and those of the API's own service.
func servingNames(bind string, naming *meta.Naming) []string {
	service := naming.Translate("platform")
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
