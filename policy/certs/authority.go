package certs

import (
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"time"
)

// An Authority is a CA that signs what others ask for. Its certificate may be another one at each call.
type Authority struct {
	current func() *tls.Certificate
}

// Authority is the daemon's own CA as one that signs for others.
func (o *Manager) Authority() *Authority {
	return &Authority{func() *tls.Certificate {
		ca := o.set.Load().CA.TLS()
		return &ca
	}}
}

// LoadAuthority reads a CA and its key from two PEM files, which may be replaced while the daemon runs: refresh reads
// them again, and tells whether they have changed.
func LoadAuthority(certFile, keyFile string) (a *Authority, refresh func() (bool, error), err error) {
	pair := &FilePair{certFile: certFile, keyFile: keyFile, check: checkAuthority}
	if _, err := pair.Refresh(); err != nil {
		return nil, nil, err
	}
	return &Authority{pair.Certificate}, pair.Refresh, nil
}

// checkAuthority refuses a certificate whose signatures nobody would accept.
func checkAuthority(c *x509.Certificate) error {
	if !c.BasicConstraintsValid || !c.IsCA {
		return errors.New("the certificate is not that of a CA")
	}
	if c.KeyUsage != 0 && c.KeyUsage&x509.KeyUsageCertSign == 0 {
		return errors.New("the CA may not sign certificates")
	}
	return nil
}

// A Template is a certificate that is to be signed. Of the request count the key, the subject and the alternative
// names; what else it asks for, such as to be a CA, is dropped.
type Template struct {
	Request      *x509.CertificateRequest
	KeyUsage     x509.KeyUsage
	ExtKeyUsages []x509.ExtKeyUsage
	Lifetime     time.Duration
}

// longLifetime is from where on the minutes by which a certificate begins earlier are part of its lifetime. Of a
// shorter one they would be more than a hundredth.
const longLifetime = 8 * time.Hour

// Sign returns the certificate, in PEM. It begins some minutes ago, for clients whose clocks are behind, and ends with
// the CA at the latest.
func (a *Authority) Sign(t Template, now time.Time) ([]byte, error) {
	ca := a.current()
	if err := t.Request.CheckSignature(); err != nil {
		return nil, fmt.Errorf("unable to verify certificate request signature: %w", err)
	}
	if !now.Before(ca.Leaf.NotAfter) {
		return nil, fmt.Errorf("refusing to sign a certificate that expired in the past: NotAfter=%v", ca.Leaf.NotAfter)
	}
	serial, err := newSerialNumber()
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial,
		NotBefore:    now.Add(-clockSkew),
		NotAfter:     notAfter(now, t.Lifetime, ca.Leaf),
		Subject:      t.Request.Subject,
		DNSNames:     t.Request.DNSNames, IPAddresses: t.Request.IPAddresses,
		EmailAddresses: t.Request.EmailAddresses, URIs: t.Request.URIs,
		KeyUsage: t.KeyUsage, ExtKeyUsage: t.ExtKeyUsages,
		BasicConstraintsValid: true, // and IsCA false: the certificate itself says that it is no CA
	}
	der, err := x509.CreateCertificate(rand.Reader, template, ca.Leaf, t.Request.PublicKey, ca.PrivateKey)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), nil
}

// notAfter is when a certificate of a lifetime ends.
func notAfter(now time.Time, lifetime time.Duration, ca *x509.Certificate) time.Time {
	end := now.Add(lifetime)
	if lifetime >= longLifetime {
		end = end.Add(-clockSkew)
	}
	if end.After(ca.NotAfter) {
		return ca.NotAfter
	}
	return end
}
