package certs

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"time"
)

// A Pair is a certificate with its key.
type Pair struct {
	Cert *x509.Certificate
	// CertPEM and KeyPEM are the two as they are in their files.
	CertPEM, KeyPEM []byte

	key *ecdsa.PrivateKey
}

// TLS is the pair as package tls wants it.
func (p *Pair) TLS() tls.Certificate {
	return tls.Certificate{Certificate: [][]byte{p.Cert.Raw}, PrivateKey: p.key, Leaf: p.Cert}
}

// issue makes a new key and a certificate for it after template, signed by issuer; a nil
// issuer makes it sign itself.
func issue(template *x509.Certificate, issuer *Pair, now time.Time, life time.Duration) (*Pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	if template.SerialNumber, err = newSerialNumber(); err != nil {
		return nil, err
	}
	template.NotBefore = now.Add(-clockSkew)
	template.NotAfter = now.Add(life)
	parent, signer := template, key
	if issuer != nil {
		parent, signer = issuer.Cert, issuer.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		return nil, err
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return parse(
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}))
}

// newSerialNumber is random, so that nobody can tell the content of the next certificate, and positive, as RFC 5280
// asks for.
func newSerialNumber() (*big.Int, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	return serial.Add(serial, big.NewInt(1)), nil
}

// parse reads a pair from its two PEM texts.
func parse(certPEM, keyPEM []byte) (*Pair, error) {
	pair, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		return nil, err
	}
	key, ok := pair.PrivateKey.(*ecdsa.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("the key is %T, not ECDSA", pair.PrivateKey)
	}
	cert, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		return nil, err
	}
	return &Pair{Cert: cert, CertPEM: certPEM, KeyPEM: keyPEM, key: key}, nil
}

// certPEM returns nil for no pair.
func (p *Pair) certPEM() []byte {
	if p == nil {
		return nil
	}
	return p.CertPEM
}

// bundle returns all certificates in the file of the certificate.
func (p *Pair) bundle() []*x509.Certificate {
	var all []*x509.Certificate
	for block, rest := pem.Decode(p.CertPEM); block != nil; block, rest = pem.Decode(rest) {
		if cert, err := x509.ParseCertificate(block.Bytes); err == nil {
			all = append(all, cert)
		}
	}
	return all
}

// unexpired returns the certificates in the file, in PEM, that are valid at now.
func (p *Pair) unexpired(now time.Time) []byte {
	var text []byte
	for _, cert := range p.bundle() {
		if now.Before(cert.NotAfter) {
			text = append(text, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Raw})...)
		}
	}
	return text
}
