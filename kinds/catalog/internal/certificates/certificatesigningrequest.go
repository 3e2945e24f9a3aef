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

// The conditions of a request. Their status is always True.
const (
	conditionApproved = "Approved"
	conditionDenied   = "Denied"
	conditionFailed   = "Failed"
)

// The legacy signer was a default of older versions. It has no rules about who gets what, so no new request may name
// it.
type certificateRequestStrategy struct{ schema.DefaultStrategy }

func (certificateRequestStrategy) Requester() []string { return requester }

// requester are the fields of the spec that say who asks for a certificate.
var requester = []string{"username", "uid", "groups", "extra"}

// Prepare ignores changes of spec and status. The server fills in the identity of
// the requester.
//
// The identity is what a signer trusts, so nothing that a client writes there may stay. A request is immutable, since
// an approval is given to its content.
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

// checkCertificateRequest requires base64 of a PEM certificate request with a valid signature.
//
// The signature proves that whoever made the request has the private key.
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

// checkCertificates checks PEM certificates; an empty text is accepted, and so is text around the blocks.
//
// Clients feed the text to libraries of all sorts, so it must hold certificates and nothing that one of them might
// trip over.
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
