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

// A FilePair is a certificate, followed by its intermediates, and its key in two
// PEM files that somebody else keeps.
type FilePair struct {
	certFile, keyFile string
	names             []string                      // to serve it for; nil means those that it carries
	check             func(*x509.Certificate) error // refuses a certificate that is of no use; nil if any will do
	current           atomic.Pointer[loadedPair]
}

// loadedPair is what was read from the files.
type loadedPair struct {
	certPEM, keyPEM []byte
	cert            *tls.Certificate
}

// LoadFilePair reads the two files. Names, if any, are what to serve the certificate for:
// host names, *.domain or IP addresses.
func LoadFilePair(certFile, keyFile string, names ...string) (*FilePair, error) {
	p := &FilePair{certFile: certFile, keyFile: keyFile, names: names}
	if _, err := p.Refresh(); err != nil {
		return nil, err
	}
	return p, nil
}

// Certificate is the pair as it is now.
func (p *FilePair) Certificate() *tls.Certificate { return p.current.Load().cert }

// PEM is the text of the certificate and its intermediates as they are now, without
// anything else that may stand in the file, such as the key.
func (p *FilePair) PEM() []byte {
	var text []byte
	for _, der := range p.Certificate().Certificate {
		text = append(text, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})...)
	}
	return text
}

// KeyPEM is the text of the private key's file as it is now.
func (p *FilePair) KeyPEM() []byte { return p.current.Load().keyPEM }

// Refresh reads the files again, and tells whether they have changed. After an error the
// pair is as before. Two files cannot be replaced at once: between the two they do not
// match; the error then lasts until the next Refresh.
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

// certificateNames are the names that the certificate carries.
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

// A NamedCertKey says which certificate to serve for which names.
type NamedCertKey struct {
	CertFile, KeyFile string
	Names             []string // nil: those that the certificate carries
}

// ParseNamedCertKey reads the form cert,key or cert,key:name,name.
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
	// An IPv6 address has colons of its own, so all after the first one is names.
	for name := range strings.SplitSeq(names, ",") {
		if name = strings.TrimSpace(name); name == "" || strings.Contains(strings.TrimPrefix(name, "*."), "*") {
			return n, fmt.Errorf("%q: %q is no host name, *.domain or IP address", text, name)
		}
		n.Names = append(n.Names, name)
	}
	return n, nil
}
