package daemon

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/actors/allocation"
	"github.com/troupe-api/troupe/actors/controllers/certificates"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/certs"
)

// An identity loads and reloads the server's own credentials and the CAs that it trusts. Configured
// certificate files replace only the serving certificate. The daemon's own CA still authenticates
// the administrator.
type identity struct {
	base

	reloader *certs.Reloader
	ownCerts *certs.Manager
	pair     *certs.FilePair // files of --tls-cert-file; nil if not given
	proxy    *certs.FilePair // files of --proxy-client-cert-file; nil if not given
	serving  *certs.SNICertificates
	clients  []*certs.CAs // CAs of client certificates, including those of proxies
	tokens   *serviceAccountTokens
	signers  certificates.Authorities
}

func (id *identity) Start() error {
	if id.state.etcd != nil {
		if err := id.shareKeys(); err != nil {
			return err
		}
	}
	if err := id.loadCertificates(); err != nil {
		return withAdvice(err)
	}
	id.noteCertDir()
	if err := id.loadTokenKeys(); err != nil {
		return withAdvice(fmt.Errorf("keys of service accounts: %w", err))
	}
	return id.loadSigners()
}

func (id *identity) loadCertificates() error {
	c := id.config
	names, err := c.servingNames(id.naming)
	if err != nil {
		return err
	}
	id.reloader = certs.NewReloader(id.log)
	store := certs.Store{
		Dir: c.certDir(), Admin: id.naming.Translate(certs.AdminName), KubeletClient: id.naming.Translate(certs.KubeletClientName),
		Binding: id.binding(), ReplaceForeign: id.state.etcd != nil, // the CA is the one in etcd
	}
	if id.ownCerts = id.memory.certs; id.ownCerts == nil {
		if id.ownCerts, err = store.Open(names); err != nil {
			return fmt.Errorf("certificates: %w", err)
		}
	}
	if store.Dir == "" {
		id.memory.certs = id.ownCerts
	}
	if err := id.ownCerts.Warning(); err != nil {
		id.log.Warn("certificates", "error", err)
	}
	id.reloader.Add("own", id.ownCerts.Renew)
	// fallback is the certificate for server names without a matching SNI certificate.
	fallback := id.ownCerts.Certificate
	if c.TLS.WriteFiles {
		if err := id.writeServing(c.TLS.CertFile, c.TLS.PrivateKeyFile); err != nil {
			return fmt.Errorf("serving certificate: %w", err)
		}
	}
	if c.TLS.CertFile != "" {
		if id.pair, err = certs.LoadFilePair(c.TLS.CertFile, c.TLS.PrivateKeyFile); err != nil {
			return fmt.Errorf("--tls-cert-file and --tls-private-key-file: %w", err)
		}
		id.reloader.Add("serving", id.pair.Refresh)
		fallback = id.pair.Certificate
	}
	if file := c.Aggregation.ProxyClientCertFile; file != "" {
		if id.proxy, err = certs.LoadFilePair(file, c.Aggregation.ProxyClientKeyFile); err != nil {
			return fmt.Errorf("--proxy-client-cert-file and --proxy-client-key-file: %w", err)
		}
		id.reloader.Add("proxy-client", id.proxy.Refresh)
	}
	named, err := c.TLS.namedPairs()
	if err != nil {
		return fmt.Errorf("--tls-sni-cert-key: %w", err)
	}
	id.serving = certs.NewSNICertificates(fallback, named...)
	if len(named) > 0 {
		id.reloader.Add("sni", id.serving.Refresh)
	}
	return nil
}

// writeServing writes the serving certificate and its key. It appends the CA to certFile, so that
// clients need only that file to verify the server.
func (id *identity) writeServing(certFile, keyFile string) error {
	set := id.ownCerts.Set()
	if err := os.MkdirAll(filepath.Dir(certFile), 0o755); err != nil {
		return err
	}
	if err := certs.WriteFile(keyFile, set.Server.KeyPEM); err != nil {
		return err
	}
	return certs.WriteFile(certFile, slices.Concat(set.Server.CertPEM, set.CA.CertPEM))
}

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

func (id *identity) certificates() certs.Set { return id.ownCerts.Set() }

// servingKey returns the serving certificate's PEM-encoded private key, with which older servers
// signed the tokens in Secrets.
func (id *identity) servingKey() []byte {
	if id.pair != nil {
		return id.pair.KeyPEM()
	}
	return id.ownCerts.Set().Server.KeyPEM
}

func (id *identity) proxyClient() *tls.Certificate {
	if id.proxy != nil {
		return id.proxy.Certificate()
	}
	return id.ownCerts.ProxyClient()
}

// trustBundle returns the PEM certificates that clients must trust. With --tls-cert-file, it
// returns the certificate chain in that file, because the CA of the chain is unknown.
func (id *identity) trustBundle() []byte {
	if id.pair != nil {
		return id.pair.PEM()
	}
	return id.ownCerts.Set().CA.CertPEM
}

// onTrustChange calls publish after every change to the trust bundle. Call it before the reloader
// runs.
func (id *identity) onTrustChange(publish func()) {
	last := id.trustBundle()
	id.reloader.Add("published-roots", func() (bool, error) {
		now := id.trustBundle()
		if bytes.Equal(now, last) {
			return false, nil
		}
		last = now
		publish()
		return true, nil
	})
}

func (id *identity) clientCAs(file string) (*certs.CAs, error) {
	sources := []certs.Source{id.ownCerts.CABundle}
	if file != "" {
		sources = append(sources, certs.FileSource(file))
	}
	return id.authoritiesOfClients("client-ca", sources...)
}

func (id *identity) authoritiesOfClients(name string, sources ...certs.Source) (*certs.CAs, error) {
	cas, err := id.authorities(name, sources...)
	id.clients = append(id.clients, cas)
	return cas, err
}

// acceptableClientCAs returns the client CAs that TLS handshakes announce. Call it after all client
// CAs are loaded, because the reloader refreshes CAs in the order of the calls.
func (id *identity) acceptableClientCAs() (*certs.CAs, error) {
	var sources []certs.Source
	for _, cas := range id.clients {
		sources = append(sources, cas.PEM)
	}
	return id.authorities("acceptable-client-ca", sources...)
}

// authorities returns the CAs from sources and keeps them up to date. When a CA is removed from a
// file, its certificates become invalid within the reload period.
func (id *identity) authorities(name string, sources ...certs.Source) (*certs.CAs, error) {
	cas, err := certs.NewCAs(sources...)
	if err != nil {
		return nil, err
	}
	id.reloader.Add(name, cas.Refresh)
	return cas, nil
}

// tlsConfig returns the TLS configuration of the listener. Handshakes request client certificates
// but do not verify them, because package authn verifies them for every request and can respond
// with 401. A resumed session has the certificate of its first handshake.
func (id *identity) tlsConfig() (*tls.Config, error) {
	least, err := certs.ParseTLSVersion(id.config.TLS.MinVersion)
	if err != nil {
		return nil, err
	}
	suites, _, err := certs.ParseCipherSuites(id.config.TLS.CipherSuites)
	if err != nil {
		return nil, err
	}
	curves, err := certs.ParseCurves(id.config.TLS.Curves)
	if err != nil {
		return nil, err
	}
	return &tls.Config{
		MinVersion:       least,
		CipherSuites:     suites,
		CurvePreferences: curves,
		GetCertificate:   id.serving.GetCertificate,
		ClientAuth:       tls.RequestClientCert,
		NextProtos:       []string{"http/1.1"},
	}, nil
}

// servingNames returns the names and addresses in the serving certificate: the names of this
// machine, the bind and advertised addresses, and the names of the API's Service.
func (c Config) servingNames(naming *meta.Naming) ([]string, error) {
	names := []string{"localhost", "127.0.0.1", "::1"}
	service := naming.Translate("platform")
	for _, suffix := range []string{"", ".default", ".default.svc"} {
		names = append(names, service+suffix)
	}
	for _, domain := range c.clusterDomains(service + ".default.svc.") {
		names = append(names, service+".default.svc."+domain)
	}
	ranges, err := allocation.ParseRanges(c.Services.ClusterIPRange)
	if err != nil {
		return nil, err
	}
	bind, _ := netip.ParseAddr(c.Serving.BindAddress) // already validated; IPv4 with leading zeros is invalid here and skipped
	for _, ip := range []netip.Addr{ranges[0].First(), bind, c.advertised()} {
		if text := ip.String(); ip.IsValid() && !ip.IsUnspecified() && !slices.Contains(names, text) {
			names = append(names, text)
		}
	}
	if host := c.Serving.ExternalHostname; host != "" {
		names = append(names, host)
	}
	if host, err := os.Hostname(); err == nil && isHostName(host) {
		names = append(names, host)
	}
	return names, nil
}

// clusterDomains returns the possible DNS domains of the cluster. No setting configures them, but
// service account issuers often contain them, as in https://kubernetes.default.svc.DOMAIN.
func (c Config) clusterDomains(prefix string) []string {
	domains := []string{"cluster.local"}
	for _, issuer := range c.ServiceAccounts.Issuers {
		u, err := url.Parse(issuer)
		if err != nil {
			continue // an issuer can be any string
		}
		if domain, ok := strings.CutPrefix(u.Hostname(), prefix); ok && isHostName(domain) && !slices.Contains(domains, domain) {
			domains = append(domains, domain)
		}
	}
	return domains
}

func isHostName(s string) bool {
	plain := func(r rune) bool {
		return r == '-' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
	}
	return s != "" && strings.Trim(s, ".-") == s && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0
}
