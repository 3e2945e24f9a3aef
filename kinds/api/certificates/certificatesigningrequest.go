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

// Conditions of a request. Their status is always True.
const (
	conditionApproved = "Approved"
	conditionDenied   = "Denied"
	conditionFailed   = "Failed"
)

type certificateRequestStrategy struct{ schema.DefaultStrategy }

func (certificateRequestStrategy) Requester() []string { return requester }

// requester are the spec fields that identify the requester.
var requester = []string{"username", "uid", "groups", "extra"}

// Prepare keeps spec and status, because an approval applies to the content of the request. In a
// new request, it drops the client's values of the identity, which signers trust; the server sets
// them.
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

// checkCertificateRequest requires base64 of a PEM certificate request. Its signature proves
// possession of the private key.
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

// checkCertificates accepts PEM certificates with text around the blocks, and an empty text. Other
// block types are rejected, because clients pass the text to various libraries.
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
