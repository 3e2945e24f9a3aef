package api_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"math/big"
	"testing"
)

// Encoded returns a PEM block of type kind in base64.
func Encoded(kind string, data []byte) string {
	return base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: data}))
}

// CertificateText returns a new PEM certificate in base64.
func CertificateText(t *testing.T) string {
	t.Helper()
	return Encoded("CERTIFICATE", Certificate(t, &x509.Certificate{}))
}

// Certificate returns a new self-signed certificate from a template.
func Certificate(t *testing.T, template *x509.Certificate) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template.SerialNumber = big.NewInt(1)
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return der
}
