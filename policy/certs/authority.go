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

// An Authority is a CA that signs certificate requests. Its certificate may be replaced at any
// time.
type Authority struct {
	current func() *tls.Certificate
}

// Authority returns an Authority that signs with the server's own CA.
func (o *Manager) Authority() *Authority {
	return &Authority{func() *tls.Certificate {
		ca := o.set.Load().CA.TLS()
		return &ca
	}}
}

// LoadAuthority loads a CA certificate and key from two PEM files, which may be replaced at run
// time. refresh reloads the files and reports whether they have changed.
func LoadAuthority(certFile, keyFile string) (a *Authority, refresh func() (bool, error), err error) {
	pair := &FilePair{certFile: certFile, keyFile: keyFile, check: checkAuthority}
	if _, err := pair.Refresh(); err != nil {
		return nil, nil, err
	}
	return &Authority{pair.Certificate}, pair.Refresh, nil
}

func checkAuthority(c *x509.Certificate) error {
	if !c.BasicConstraintsValid || !c.IsCA {
		return errors.New("the certificate is not that of a CA")
	}
	if c.KeyUsage != 0 && c.KeyUsage&x509.KeyUsageCertSign == 0 {
		return errors.New("the CA may not sign certificates")
	}
	return nil
}

// A Template describes a certificate to sign. Only the key, subject and alternative names of
// Request are used. Sign ignores other requested properties, such as being a CA.
type Template struct {
	Request      *x509.CertificateRequest
	KeyUsage     x509.KeyUsage
	ExtKeyUsages []x509.ExtKeyUsage
	Lifetime     time.Duration
}

// longLifetime is the minimum lifetime from which Sign deducts clockSkew, which would be more than
// one percent of a shorter lifetime.
const longLifetime = 8 * time.Hour

// Sign returns the signed certificate in PEM. It is backdated by clockSkew for clients with slow
// clocks, and expires no later than the CA.
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
		BasicConstraintsValid: true, // and IsCA false: the certificate states that it is not a CA
	}
	der, err := x509.CreateCertificate(rand.Reader, template, ca.Leaf, t.Request.PublicKey, ca.PrivateKey)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), nil
}

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
