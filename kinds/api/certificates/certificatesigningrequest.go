package certificates

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// The conditions of a CertificateSigningRequest. Their status is always True.
const (
	conditionApproved = "Approved"
	conditionDenied   = "Denied"
	conditionFailed   = "Failed"
)

type certificateRequestStrategy struct{ schema.DefaultStrategy }

func (certificateRequestStrategy) Requester() []string { return requester }

var requester = []string{"username", "uid", "groups", "extra"}

// Prepare keeps an existing request's spec and status, because an approval covers the spec. It
// removes the requester identity from a new request, because only the server may set it.
func (certificateRequestStrategy) Prepare(obj, old tree.Tree) {
	if old != nil {
		obj.CopyField(old, "spec")
		obj.CopyField(old, "status")
		return
	}
	spec := obj.EnsureObject("spec")
	for _, name := range requester {
		delete(spec, name)
	}
	obj["status"] = tree.Tree{}
}

// checkCertificateRequest checks a base64-encoded PEM certificate request. The signature must be
// valid, because it proves that the requester has the private key.
func checkCertificateRequest(text string) error {
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return err
	}
	block, _ := pem.Decode(data)
	if block == nil || block.Type != "CERTIFICATE REQUEST" {
		return errors.New("PEM block type must be CERTIFICATE REQUEST")
	}
	request, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		return err
	}
	return request.CheckSignature()
}

// checkCertificates accepts an empty value, or PEM certificates with text around the blocks. It
// rejects other block types, because clients parse the certificates with various libraries.
func checkCertificates(text string) error {
	rest, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return err
	}
	if len(rest) == 0 {
		return nil
	}
	found := false
	for len(rest) > 0 {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			return fmt.Errorf("only CERTIFICATE PEM blocks are allowed, found %q", block.Type)
		}
		if len(block.Headers) != 0 {
			return errors.New("no PEM block headers are permitted")
		}
		certificates, err := x509.ParseCertificates(block.Bytes)
		if err != nil {
			return err
		}
		if len(certificates) == 0 {
			return errors.New("found CERTIFICATE PEM block containing 0 certificates")
		}
		found = true
	}
	if !found {
		return errors.New("must contain at least one CERTIFICATE PEM block")
	}
	return nil
}
