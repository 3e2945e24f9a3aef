package certificates

import (
	"cmp"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"maps"
	"net/mail"
	"slices"
	"strings"
	"time"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// decoded returns the bytes of a field. Invalid base64 does not reach the kinds.
func decoded(spec tree.Tree, field string) []byte {
	data, _ := base64.StdEncoding.DecodeString(spec.String(field))
	return data
}

// checkKey checks the public key of a request, and that the requester has the private key.
func checkKey(spec tree.Tree, path string, faults *schema.Faults) {
	text := spec.String("pkixPublicKey")
	if text == "" {
		checkStub(decoded(spec, "stubPKCS10Request"), path+".stubPKCS10Request", faults)
		return
	}
	keyPath := path + ".pkixPublicKey"
	key, err := x509.ParsePKIXPublicKey(decoded(spec, "pkixPublicKey"))
	value, msg := keyFault(key, "P256 or P384")
	switch {
	case err != nil:
		faults.Invalid(keyPath, text, "must be a valid PKIX-serialized public key")
	case msg != "":
		faults.Invalid(keyPath, cmp.Or(value, text), msg)
	case !hasSigned(key, []byte(spec.String("podUID")), decoded(spec, "proofOfPossession")):
		faults.InvalidOmitValue(path+".proofOfPossession", "could not verify proof-of-possession signature")
	}
}

func checkStub(der []byte, path string, faults *schema.Faults) {
	request, err := x509.ParseCertificateRequest(der)
	if err != nil {
		faults.InvalidOmitValue(path, "must be a valid PKCS#10 CSR")
		return
	}
	value, msg := keyFault(request.PublicKey, "P256, P384, or P521")
	switch {
	case value != "":
		faults.Invalid(path, value, msg)
	case msg != "":
		faults.InvalidOmitValue(path, msg)
	case request.CheckSignature() != nil:
		faults.InvalidOmitValue(path, "invalid signature")
	}
}

// keyFault returns why a public key is not supported, and the property at fault, or "". curves names
// the supported curves in the message.
func keyFault(key any, curves string) (value, msg string) {
	switch key := key.(type) {
	case ed25519.PublicKey:
	case *ecdsa.PublicKey:
		if !slices.Contains([]elliptic.Curve{elliptic.P256(), elliptic.P384(), elliptic.P521()}, key.Curve) {
			return "curve " + key.Params().Name, "elliptic public keys must use curve " + curves
		}
	case *rsa.PublicKey:
		if bits := key.Size() * 8; bits != 3072 && bits != 4096 {
			return fmt.Sprintf("%d-bit modulus", bits), "RSA keys must have modulus size 3072 or 4096"
		}
	default:
		return "", "unknown public key type; supported types are Ed25519, ECDSA, and RSA"
	}
	return "", ""
}

func hasSigned(key any, message, signature []byte) bool {
	digest := sha256.Sum256(message)
	switch key := key.(type) {
	case ed25519.PublicKey:
		return ed25519.Verify(key, message, signature)
	case *ecdsa.PublicKey:
		return ecdsa.VerifyASN1(key, digest[:], signature)
	case *rsa.PublicKey:
		return rsa.VerifyPSS(key, crypto.SHA256, digest[:], signature, nil) == nil
	}
	return false
}

// writePodStatus returns the view of the status. An issued certificate is checked if the declared
// rules found no error.
func writePodStatus(m *schema.Message) func(obj, body tree.Tree, now string, faults *schema.Faults) error {
	return func(obj, body tree.Tree, now string, faults *schema.Faults) error {
		old := maps.Clone(obj)
		obj.CopyField(body, "status")
		schema.Run(m.Checks().Status, obj, old, "", faults)
		if status := obj.Object("status"); len(faults.List) == 0 && tree.IsConditionTrue(status, "Issued") && !tree.IsConditionTrue(old.Object("status"), "Issued") {
			checkIssued(obj.Object("spec"), status, now, faults)
		}
		return nil
	}
}

// checkIssued compares a certificate with the request and with the times in the status.
func checkIssued(spec, status tree.Tree, now string, faults *schema.Faults) {
	const path = "status.certificateChain"
	text := status.String("certificateChain")
	chain, msg := parseChain(text)
	if msg != "" {
		faults.Invalid(path, text, msg)
		return
	}
	leaf := chain[0]
	checkLeafNames(leaf, path, faults)
	var key crypto.PublicKey
	if request, err := x509.ParseCertificateRequest(decoded(spec, "stubPKCS10Request")); err == nil {
		key = request.PublicKey
	} else {
		key, _ = x509.ParsePKIXPublicKey(decoded(spec, "pkixPublicKey"))
	}
	if own, ok := key.(interface{ Equal(crypto.PublicKey) bool }); !ok || !own.Equal(leaf.PublicKey) {
		faults.Invalid(path, text, "leaf certificate was not issued to the requested public key")
	}
	if len(faults.List) > 0 {
		return
	}
	at := func(text string) time.Time {
		t, _ := time.Parse(time.RFC3339, text)
		return t
	}
	begin, refresh, end := status.String("notBefore"), status.String("beginRefreshAt"), status.String("notAfter")
	life := leaf.NotAfter.Sub(leaf.NotBefore)
	const margin = 10 * time.Minute
	longest, _ := spec.Int("maxExpirationSeconds")
	switch {
	case !at(begin).Equal(leaf.NotBefore):
		faults.Invalid("status.notBefore", begin, "must be set to the NotBefore time encoded in the leaf certificate")
	case at(begin).Sub(at(now)).Abs() >= 5*time.Minute:
		faults.Invalid("status.notBefore", begin, "must be set to within 5 minutes of kube-apiserver's current time")
	case !at(end).Equal(leaf.NotAfter):
		faults.Invalid("status.notAfter", end, "must be set to the NotAfter time encoded in the leaf certificate")
	case life < time.Hour:
		faults.Invalid(path, life, "leaf certificate lifetime must be >= 1 hour")
	case life > time.Duration(longest)*time.Second:
		faults.Invalid(path, life, fmt.Sprintf("leaf certificate lifetime must be <= spec.maxExpirationSeconds (%d)", longest))
	case at(refresh).Sub(at(begin)) < margin:
		faults.Invalid("status.beginRefreshAt", refresh, "must be at least 10 minutes after status.notBefore")
	case at(end).Sub(at(refresh)) < margin:
		faults.Invalid("status.beginRefreshAt", refresh, "must be at least 10 minutes before status.notAfter")
	}
}

// parseChain returns the certificates in PEM text, of which there is at least one, or an error
// message.
func parseChain(text string) (chain []*x509.Certificate, msg string) {
	for block, rest := pem.Decode([]byte(text)); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			return nil, "issued certificate chain must consist entirely of CERTIFICATE PEM blocks"
		}
		c, err := x509.ParseCertificate(block.Bytes)
		switch {
		case err == nil:
			chain = append(chain, c)
		case chain == nil:
			return nil, "leaf certificate does not parse as valid X.509"
		default:
			return nil, "intermediate certificate does not parse as valid X.509"
		}
	}
	if chain == nil {
		return nil, "issued certificate chain must contain at least one certificate"
	}
	return chain, ""
}

func checkLeafNames(leaf *x509.Certificate, path string, faults *schema.Faults) {
	for _, name := range leaf.DNSNames {
		if name == "" {
			faults.Invalid(path, name, "leaf certificate should not contain empty DNSName")
		}
		if strings.Contains(name, "..") {
			faults.Invalid(path, name, "leaf certificate's DNSName should not contain '..'")
		}
		if strings.HasPrefix(name, ".") || strings.HasSuffix(name, ".") {
			faults.Invalid(path, name, "leaf certificate's DNSName should not start or end with '.'")
		}
	}
	for _, address := range leaf.EmailAddresses {
		if _, err := mail.ParseAddress(address); err != nil {
			faults.Invalid(path, address, "leaf certificate should not contain invalid EmailAddress")
		}
	}
}
