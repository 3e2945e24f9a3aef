// Package pki issues certificates for tests. All keys are ECDSA keys on P-256.
package pki

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"testing"
	"time"
)

// Authority returns a self-signed CA certificate and its key.
func Authority(t testing.TB, name string) tls.Certificate {
	t.Helper()
	return Issue(t, tls.Certificate{}, &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	})
}

// Server issues a server certificate for DNS names and IP addresses.
func Server(t testing.TB, issuer tls.Certificate, names ...string) tls.Certificate {
	t.Helper()
	c := &x509.Certificate{Subject: pkix.Name{CommonName: "server"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			c.IPAddresses = append(c.IPAddresses, ip)
		} else {
			c.DNSNames = append(c.DNSNames, name)
		}
	}
	return Issue(t, issuer, c)
}

// Client issues a client certificate for a user.
func Client(t testing.TB, issuer tls.Certificate, user string) tls.Certificate {
	t.Helper()
	return Issue(t, issuer, &x509.Certificate{
		Subject: pkix.Name{CommonName: user}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
}

// Issue issues a certificate for a new key and returns it with its chain. If issuer is empty, the
// certificate is self-signed. By default, it is valid for one hour before and after the current
// time.
func Issue(t testing.TB, issuer tls.Certificate, template *x509.Certificate) tls.Certificate {
	t.Helper()
	key, now := NewKey(t), time.Now()
	template.SerialNumber = big.NewInt(now.UnixNano())
	if template.NotBefore.IsZero() {
		template.NotBefore = now.Add(-time.Hour)
	}
	if template.NotAfter.IsZero() {
		template.NotAfter = now.Add(time.Hour)
	}
	parent, signer := issuer.Leaf, issuer.PrivateKey
	if parent == nil {
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: append([][]byte{der}, issuer.Certificate...), PrivateKey: key, Leaf: leaf}
}

// NewKey returns a new private key.
func NewKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// Request returns a certificate request in PEM. The template needs only a subject.
func Request(t testing.TB, template x509.CertificateRequest, key crypto.Signer) []byte {
	t.Helper()
	der, err := x509.CreateCertificateRequest(rand.Reader, &template, key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})
}

// SigningRequest returns the JSON of a CertificateSigningRequest for a user and groups, with a new
// key.
func SigningRequest(t testing.TB, name, signer, user string, groups ...string) string {
	t.Helper()
	request := Request(t, x509.CertificateRequest{Subject: pkix.Name{CommonName: user, Organization: groups}}, NewKey(t))
	return fmt.Sprintf(`{"apiVersion":"certificates.platform.io/v1","kind":"CertificateSigningRequest","metadata":{"name":%q},
		"spec":{"request":%q,"signerName":%q,"usages":["client auth"]}}`, name, base64.StdEncoding.EncodeToString(request), signer)
}

// PEM encodes a certificate in PEM.
func PEM(c *x509.Certificate) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})
}

// KeyPEM encodes a private key in PEM (PKCS #8).
func KeyPEM(t testing.TB, key any) []byte {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}

// ECKeyPEM encodes a private key in PEM (SEC 1), like openssl ecparam.
func ECKeyPEM(t testing.TB, key crypto.PrivateKey) []byte {
	t.Helper()
	der, err := x509.MarshalECPrivateKey(key.(*ecdsa.PrivateKey))
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})
}
