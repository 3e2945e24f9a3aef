package certs

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
)

// ParseRequest reads a certificate request (PKCS #10) from the base64 of its PEM text, which is how objects hold it.
// Whether its signature is right it does not check.
func ParseRequest(text string) (*x509.CertificateRequest, error) {
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(data)
	if block == nil || block.Type != "CERTIFICATE REQUEST" {
		return nil, errors.New("PEM block type must be CERTIFICATE REQUEST")
	}
	return x509.ParseCertificateRequest(block.Bytes)
}
