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

type Pair struct {
	Cert *x509.Certificate
	// CertPEM and KeyPEM are the contents of the certificate file and the key file.
	CertPEM, KeyPEM []byte

	key *ecdsa.PrivateKey
}

// TLS returns the certificate and key for crypto/tls.
func (p *Pair) TLS() tls.Certificate {
	return tls.Certificate{Certificate: [][]byte{p.Cert.Raw}, PrivateKey: p.key, Leaf: p.Cert}
}

// issue signs a certificate for a new key. If issuer is nil, the certificate is self-signed.
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

// newSerialNumber returns a random positive number, because serial numbers must be positive (RFC
// 5280) and unpredictable.
func newSerialNumber() (*big.Int, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	return serial.Add(serial, big.NewInt(1)), nil
}

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

func (p *Pair) certPEM() []byte {
	if p == nil {
		return nil
	}
	return p.CertPEM
}

func (p *Pair) bundle() []*x509.Certificate {
	var all []*x509.Certificate
	for block, rest := pem.Decode(p.CertPEM); block != nil; block, rest = pem.Decode(rest) {
		if cert, err := x509.ParseCertificate(block.Bytes); err == nil {
			all = append(all, cert)
		}
	}
	return all
}

func (p *Pair) unexpired(now time.Time) []byte {
	var text []byte
	for _, cert := range p.bundle() {
		if now.Before(cert.NotAfter) {
			text = append(text, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Raw})...)
		}
	}
	return text
}
