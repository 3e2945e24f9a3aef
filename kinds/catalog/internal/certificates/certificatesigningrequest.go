package certificates

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// minCertificateSeconds is the shortest lifetime that a request may ask for.
const minCertificateSeconds = 600

// The conditions of a request. Their status is always True.
const (
	conditionApproved = "Approved"
	conditionDenied   = "Denied"
	conditionFailed   = "Failed"
)

// The legacy signer was a default of older versions. It has no rules about who gets what, so no new request may name
// it.
type certificateRequestStrategy struct {
	schema.DefaultStrategy
	legacySigner string
}

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

// The bounds of the lifetime keep a certificate from ending before it is installed.
func (s certificateRequestStrategy) Validate(obj, _ tree.Tree, faults *schema.Faults) {
	spec := obj.Object("spec")
	request := spec.String("request")
	if err := checkCertificateRequest(request); err != nil {
		faults.Invalid("spec.request", request, err.Error())
	}
	validateUsages(spec.Strings("usages"), faults)
	if signer := spec.String("signerName"); signer == s.legacySigner {
		faults.Invalid("spec.signerName", signer, "the legacy signerName is not allowed via this API version")
	} else {
		validateSignerName(signer, faults)
	}
	if n, ok := spec.Int("expirationSeconds"); ok && n < minCertificateSeconds {
		faults.Invalid("spec.expirationSeconds", n, "may not specify a duration less than 600 seconds (10 minutes)")
	}
	status := obj.Object("status")
	validateApprovalConditions(status.Objects("conditions"), faults)
	if err := checkCertificates(status.String("certificate")); err != nil {
		faults.Invalid("status.certificate", "<certificate data>", err.Error())
	}
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

// The usages are those of RFC 5280 in the spelling of the API; what is not listed no signer would understand.
func validateUsages(usages []string, faults *schema.Faults) {
	seen := rules.Seen{}
	for i, usage := range usages {
		path := tree.IndexPath("spec.usages", i)
		if !slices.Contains(keyUsages, usage) {
			faults.NotSupported(path, usage, keyUsages)
		}
		if seen.Repeats(usage) {
			faults.Duplicate(path, usage)
		}
	}
}

// keyUsages are the usages that a request may name.
var keyUsages = []string{
	"any", "cert sign", "client auth", "code signing", "content commitment", "crl sign", "data encipherment",
	"decipher only", "digital signature", "email protection", "encipher only", "ipsec end system", "ipsec tunnel",
	"ipsec user", "key agreement", "key encipherment", "microsoft sgc", "netscape sgc", "ocsp signing", "s/mime",
	"server auth", "signing", "timestamping",
}

// maxSignerName is the length of the longest domain/subdomain.label, in bytes.
const maxSignerName = 253 + 1 + 253 + 63 + 1

// validateSignerName requires the form domain/path, as in "example.com/signer-name".
//
// A domain belongs to somebody, which keeps two signers from answering to one name. Rights on signers are given by
// domain/* too, so the parts must be well formed.
func validateSignerName(name string, faults *schema.Faults) {
	const path = "spec.signerName"
	if name == "" {
		return // the declaration requires it
	}
	domain, rest, ok := strings.Cut(name, "/")
	if !ok || strings.Contains(rest, "/") {
		faults.Invalid(path, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'")
		return
	}
	labels := strings.Split(domain, ".")
	if len(labels) < 2 {
		faults.Invalid(path, domain, "should be a domain with at least two segments separated by dots")
	}
	for _, label := range labels {
		for _, msg := range rules.Label(label) {
			faults.Invalid(path, domain, fmt.Sprintf("validating label %q: %s", label, msg))
		}
	}
	for _, label := range strings.Split(rest, ".") {
		for _, msg := range rules.Subdomain(label) {
			faults.Invalid(path, rest, fmt.Sprintf("validating label %q: %s", label, msg))
		}
	}
	if len(name) > maxSignerName {
		faults.TooLong(path, maxSignerName)
	}
}

// validateApprovalConditions checks that types are unique, and a request not both approved and denied.
//
// An approval has no opposite status: "Approved: False" would read as a denial to one client and as nothing to
// another.
func validateApprovalConditions(conditions []tree.Tree, faults *schema.Faults) {
	seen := make(map[string]bool, len(conditions))
	for i, c := range conditions {
		path, kind := tree.IndexPath("status.conditions", i), c.String("type")
		choices := []string{"False", "True", "Unknown"}
		if isApprovalCondition(kind) {
			choices = []string{"True"}
		}
		field.OptionalEnum(c, "status", path, faults, choices...)
		seen[kind] = true
		if seen[conditionApproved] && seen[conditionDenied] && (kind == conditionApproved || kind == conditionDenied) {
			faults.Invalid(path+".type", kind, "Approved and Denied conditions are mutually exclusive")
		}
	}
}

func isApprovalCondition(kind string) bool {
	return kind == conditionApproved || kind == conditionDenied || kind == conditionFailed
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
