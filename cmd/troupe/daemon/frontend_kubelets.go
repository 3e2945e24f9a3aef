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

// Kubelets is how the agents of Nodes are reached, for logs of containers, commands in them, ports of Pods, and Nodes
// that are proxied to.
type Kubelets struct {
	ClientCertFile        string   `flag:"kubelet-client-certificate"`
	ClientKeyFile         string   `flag:"kubelet-client-key"`
	CertificateAuthority  string   `flag:"kubelet-certificate-authority"` // "" trusts anybody
	PreferredAddressTypes []string `flag:"kubelet-preferred-address-types"`
	Port                  int      `flag:"kubelet-port"` // of agents whose Node does not name one
	Timeout               Duration `flag:"kubelet-timeout"`
}

// kubeletOptions is how agents are reached. The files are followed.
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

// verifyServer verifies a server by authorities that may change while connections are made: the RootCAs of a
// tls.Config may not.
func verifyServer(authorities *certs.CAs) func(tls.ConnectionState) error {
	return func(s tls.ConnectionState) error {
		if len(s.PeerCertificates) == 0 {
			return errors.New("the server has shown no certificate")
		}
		o := x509.VerifyOptions{Roots: authorities.Pool(), DNSName: s.ServerName, Intermediates: x509.NewCertPool()}
		for _, c := range s.PeerCertificates[1:] {
			o.Intermediates.AddCert(c)
		}
		_, err := s.PeerCertificates[0].Verify(o)
		return err
	}
}
