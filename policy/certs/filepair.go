package certs

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
)

// A FilePair is an externally managed certificate, with intermediates, and its key in two PEM
// files.
type FilePair struct {
	certFile, keyFile string
	// names lists the names for which the certificate is served. If it is empty, the certificate is
	// served for the names that it contains.
	names   []string
	check   func(*x509.Certificate) error // rejects unusable certificates; may be nil
	current atomic.Pointer[loadedPair]
}

type loadedPair struct {
	certPEM, keyPEM []byte
	cert            *tls.Certificate
}

// LoadFilePair loads a certificate and its key. names lists the host names, *.domain patterns and
// IP addresses for which to serve the certificate. By default, it is served for the names that it
// contains.
func LoadFilePair(certFile, keyFile string, names ...string) (*FilePair, error) {
	p := &FilePair{certFile: certFile, keyFile: keyFile, names: names}
	if _, err := p.Refresh(); err != nil {
		return nil, err
	}
	return p, nil
}

// Certificate returns the current certificate and key.
func (p *FilePair) Certificate() *tls.Certificate { return p.current.Load().cert }

// PEM returns the current certificate and its intermediates. It omits other content of the file,
// such as a key.
func (p *FilePair) PEM() []byte {
	var text []byte
	for _, der := range p.Certificate().Certificate {
		text = append(text, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})...)
	}
	return text
}

// KeyPEM returns the current content of the key file.
func (p *FilePair) KeyPEM() []byte { return p.current.Load().keyPEM }

// Refresh reloads the files and reports whether they have changed. An error leaves the pair
// unchanged. Refresh may fail after only one of the files has been replaced.
func (p *FilePair) Refresh() (bool, error) {
	certPEM, err := os.ReadFile(p.certFile)
	if err != nil {
		return false, err
	}
	keyPEM, err := os.ReadFile(p.keyFile)
	if err != nil {
		return false, err
	}
	if old := p.current.Load(); old != nil && bytes.Equal(old.certPEM, certPEM) && bytes.Equal(old.keyPEM, keyPEM) {
		return false, nil
	}
	cert, err := tls.X509KeyPair(certPEM, keyPEM)
	if err == nil && p.check != nil {
		err = p.check(cert.Leaf)
	}
	if err != nil {
		return false, fmt.Errorf("%s and %s: %w", p.certFile, p.keyFile, err)
	}
	p.current.Store(&loadedPair{certPEM, keyPEM, &cert})
	return true, nil
}

func (p *FilePair) certificateNames() []string {
	leaf := p.Certificate().Leaf
	hosts := append([]string{}, leaf.DNSNames...)
	for _, ip := range leaf.IPAddresses {
		hosts = append(hosts, ip.String())
	}
	if len(hosts) == 0 && leaf.Subject.CommonName != "" {
		hosts = append(hosts, leaf.Subject.CommonName)
	}
	return hosts
}

// A NamedCertKey assigns a certificate to host names.
type NamedCertKey struct {
	CertFile, KeyFile string
	Names             []string // nil means those in the certificate
}

// ParseNamedCertKey parses "cert,key" or "cert,key:name,name".
func ParseNamedCertKey(text string) (NamedCertKey, error) {
	files, names, named := strings.Cut(text, ":")
	cert, key, two := strings.Cut(files, ",")
	n := NamedCertKey{CertFile: strings.TrimSpace(cert), KeyFile: strings.TrimSpace(key)}
	if !two || n.CertFile == "" || n.KeyFile == "" || strings.Contains(key, ",") {
		return n, fmt.Errorf("%q is not of the form certificate file,key file[:names]", text)
	}
	if !named {
		return n, nil
	}
	// Only the first colon separates the files from the names, because IPv6 addresses contain
	// colons.
	for name := range strings.SplitSeq(names, ",") {
		if name = strings.TrimSpace(name); name == "" || strings.Contains(strings.TrimPrefix(name, "*."), "*") {
			return n, fmt.Errorf("%q: %q is not a host name, *.domain or IP address", text, name)
		}
		n.Names = append(n.Names, name)
	}
	return n, nil
}
