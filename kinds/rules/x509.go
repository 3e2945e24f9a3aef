package rules

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"

	"github.com/troupe-api/troupe/kinds/tree"
)

func decoded(v any) []byte {
	data, _ := base64.StdEncoding.DecodeString(text(v))
	return data
}

// publicKey describes a key in PKIX form or the key of a PKCS #10 request. It returns nil for other
// values.
func publicKey(v any) any {
	if request, err := x509.ParseCertificateRequest(decoded(v)); err == nil {
		t := describeKey(request.PublicKey)
		t["requested"] = true
		return t
	}
	key, err := x509.ParsePKIXPublicKey(decoded(v))
	if err != nil {
		return nil
	}
	return describeKey(key)
}

// describeKey describes a public key. The tree has no kind if the key type is unsupported.
func describeKey(key any) tree.Tree {
	der, _ := x509.MarshalPKIXPublicKey(key)
	t := tree.Tree{"pkix": string(der)}
	switch key := key.(type) {
	case ed25519.PublicKey:
		t["kind"] = "Ed25519"
	case *ecdsa.PublicKey:
		t["kind"] = "curve " + key.Params().Name
	case *rsa.PublicKey:
		t["kind"] = fmt.Sprintf("%d-bit modulus", key.Size()*8)
	}
	return t
}

// hasSigned reports whether the owner of the key signed a PKCS #10 request. For a key in PKIX form,
// signed contains a text and its signature.
func hasSigned(key, signed any) any {
	if request, err := x509.ParseCertificateRequest(decoded(key)); err == nil {
		return request.CheckSignature() == nil
	}
	pair := elements(signed)
	message, signature := []byte(text(pair[0])), decoded(pair[1])
	digest := sha256.Sum256(message)
	parsed, _ := x509.ParsePKIXPublicKey(decoded(key))
	switch key := parsed.(type) {
	case ed25519.PublicKey:
		return ed25519.Verify(key, message, signature)
	case *ecdsa.PublicKey:
		return ecdsa.VerifyASN1(key, digest[:], signature)
	case *rsa.PublicKey:
		return rsa.VerifyPSS(key, crypto.SHA256, digest[:], signature, nil) == nil
	}
	return false
}

// certificates describes the blocks of PEM text. A block that is not a certificate has no key.
// Times are in seconds since 1970, and lifetimes in nanoseconds.
func certificates(v any) any {
	var all []any
	for block, rest := pem.Decode([]byte(text(v))); block != nil; block, rest = pem.Decode(rest) {
		t := tree.Tree{"type": block.Type, "headers": len(block.Headers) > 0, "der": string(block.Bytes)}
		if c, err := x509.ParseCertificate(block.Bytes); err == nil {
			t["key"], t["names"], t["emails"] = describeKey(c.PublicKey), tree.ListOf(c.DNSNames), tree.ListOf(c.EmailAddresses)
			t["ca"], t["constrained"] = c.IsCA, c.BasicConstraintsValid
			t["begin"], t["end"], t["life"] = c.NotBefore.Unix(), c.NotAfter.Unix(), int64(c.NotAfter.Sub(c.NotBefore))
		}
		all = append(all, t)
	}
	return all
}
