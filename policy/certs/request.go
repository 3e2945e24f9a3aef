package certs

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
)

// ParseRequest decodes a PKCS #10 certificate request from the base64-encoded PEM in a
// CertificateSigningRequest. It does not verify the signature.
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
