package daemon

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"
	"github.com/troupe-api/troupe/http"
	"github.com/troupe-api/troupe/policy/certs"
)

// Kubelets is how the agents of Nodes are reached, for logs of containers, commands in them, ports of Pods, and Nodes
// that are proxied to.
type Kubelets struct {
	ClientCertFile        string   `json:"clientCertFile"`
	ClientKeyFile         string   `json:"clientKeyFile"`
	CertificateAuthority  string   `json:"certificateAuthority"` // "" trusts anybody
	PreferredAddressTypes []string `json:"preferredAddressTypes"`
	Port                  int      `json:"port"` // of agents whose Node does not name one
	Timeout               Duration `json:"timeout"`
}

// defaultKubelets are the defaults of kube-apiserver. The list of types is at the same time that of all types there are.
func defaultKubelets() Kubelets {
	return Kubelets{
		PreferredAddressTypes: []string{"Hostname", "InternalDNS", "InternalIP", "ExternalDNS", "ExternalIP"},
		Port:                  10250, Timeout: Duration(5 * time.Second),
	}
}

// flags binds the section.
func (k *Kubelets) flags(f *pflag.FlagSet) {
	f.StringVar(&k.ClientCertFile, "kubelet-client-certificate", k.ClientCertFile, "PEM file of the client certificate that the daemon presents to kubelets (default apiserver-kubelet-client.crt in the directory of certificates); reloaded when it changes.")
	f.StringVar(&k.ClientKeyFile, "kubelet-client-key", k.ClientKeyFile, "PEM file of its private key.")
	f.StringVar(&k.CertificateAuthority, "kubelet-certificate-authority", k.CertificateAuthority, "PEM file of the CAs of kubelets; read again when it changes. Without it, whoever answers at the address of a node is taken for its kubelet.")
	f.StringSliceVar(&k.PreferredAddressTypes, "kubelet-preferred-address-types", k.PreferredAddressTypes, "Types of addresses of a node at which its kubelet is reached, the best first, with commas.")
	f.IntVar(&k.Port, "kubelet-port", k.Port, "Port of kubelets whose node does not name one.")
	f.Var(&k.Timeout, "kubelet-timeout", "Longest time to connect to a kubelet.")
}

// validate wants at least one type of address, without which no kubelet could ever be reached.
func (k Kubelets) validate(f *faults) {
	f.check((k.ClientCertFile == "") == (k.ClientKeyFile == ""), "kubelets.clientCertFile", "goes together with kubelets.clientKeyFile")
	f.check(len(k.PreferredAddressTypes) > 0, "kubelets.preferredAddressTypes", "must not be empty")
	for _, name := range k.PreferredAddressTypes {
		f.oneOf("kubelets.preferredAddressTypes", name, defaultKubelets().PreferredAddressTypes...)
	}
	f.check(k.Port > 0 && k.Port <= 65535, "kubelets.port", fmt.Sprintf("%d is not between 1 and 65535", k.Port))
	f.positive("kubelets.timeout", k.Timeout)
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
