package daemon

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"time"

	"github.com/troupe-api/troupe/http"
	"github.com/troupe-api/troupe/policy/certs"
)

// Kubelets configures connections to kubelets, for logs, exec, port forwarding and proxying.
type Kubelets struct {
	ClientCertFile        string   `flag:"kubelet-client-certificate"`
	ClientKeyFile         string   `flag:"kubelet-client-key"`
	CertificateAuthority  string   `flag:"kubelet-certificate-authority"` // "" skips verification
	PreferredAddressTypes []string `flag:"kubelet-preferred-address-types"`
	Port                  int      `flag:"kubelet-port"` // for Nodes that report no kubelet port
	Timeout               Duration `flag:"kubelet-timeout"`
}

// kubeletOptions returns the options for connections to kubelets. The reloader rereads the
// certificate files.
func (f *frontEnd) kubeletOptions() (o http.KubeletOptions, err error) {
	k := f.config.Kubelets
	o = http.KubeletOptions{AddressTypes: k.PreferredAddressTypes, Port: k.Port, DialTimeout: time.Duration(k.Timeout)}
	o.TLS = &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: true}
	client := f.identity.ownCerts.KubeletClient
	if k.ClientCertFile != "" {
		pair, err := certs.LoadFilePair(k.ClientCertFile, k.ClientKeyFile)
		if err != nil {
			return o, fmt.Errorf("--kubelet-client-certificate and --kubelet-client-key: %w", err)
		}
		f.identity.reloader.Add("kubelet client", pair.Refresh)
		client = pair.Certificate
	}
	o.TLS.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return client(), nil }
	if k.CertificateAuthority != "" {
		authorities, err := certs.NewCAs(certs.FileSource(k.CertificateAuthority))
		if err != nil {
			return o, fmt.Errorf("--kubelet-certificate-authority: %w", err)
		}
		f.identity.reloader.Add("kubelet authorities", authorities.Refresh)
		o.TLS.VerifyConnection = verifyServer(authorities)
	}
	return o, nil
}

// verifyServer returns a function that verifies server certificates. Unlike the RootCAs of a
// tls.Config, authorities may change while the server runs.
func verifyServer(authorities *certs.CAs) func(tls.ConnectionState) error {
	return func(s tls.ConnectionState) error {
		if len(s.PeerCertificates) == 0 {
			return errors.New("the server presented no certificate")
		}
		o := x509.VerifyOptions{Roots: authorities.Pool(), DNSName: s.ServerName, Intermediates: x509.NewCertPool()}
		for _, c := range s.PeerCertificates[1:] {
			o.Intermediates.AddCert(c)
		}
		_, err := s.PeerCertificates[0].Verify(o)
		return err
	}
}
