package api_test

import (
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
)

func block(kind string, der []byte, headers map[string]string) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der, Headers: headers}))
}

func bundle(name, signer, text string) string {
	body, _ := json.Marshal(map[string]any{
		"metadata": map[string]any{"name": name}, "spec": map[string]any{"signerName": signer, "trustBundle": text},
	})
	return string(body)
}

func TestClusterTrustBundle(t *testing.T) {
	k := KindByGVK(t, meta.Kubernetes, "certificates.k8s.io", "v1beta1", "ClusterTrustBundle")
	ca := &x509.Certificate{IsCA: true, BasicConstraintsValid: true}
	a, b := block("CERTIFICATE", Certificate(t, ca), nil), block("CERTIFICATE", Certificate(t, ca), nil)
	leaf := Certificate(t, &x509.Certificate{})
	const fault = `spec.trustBundle: Invalid value: "<value omitted>": `
	for _, c := range []struct {
		what, name, signer, text string
		want                     []string
	}{
		{"without a signer", "roots", "", a + "\ntext between\n" + b, nil},
		{"of a signer", "example.com:s:v1", "example.com/s", a, nil},
		{"colon", "example.com:s:v1", "", a, []string{`metadata.name: Invalid value: "example.com:s:v1": ClusterTrustBundle without signer name must not have ":" in its name`}},
		{"other prefix", "example.com:t:v1", "example.com/s", a, []string{`metadata.name: Invalid value: "example.com:t:v1": ClusterTrustBundle for signerName example.com/s must be named with prefix example.com:s:`}},
		{"no rest", "example.com:s:", "example.com/s", a, []string{`metadata.name: Invalid value: "example.com:s:": a lowercase RFC 1123 subdomain…`}},
		{"bad name", "Roots", "", a, []string{`metadata.name: Invalid value: "Roots": a lowercase RFC 1123 subdomain…`}},
		{"bad signer", "example:s:v1", "example/s", a, []string{`spec.signerName: Invalid value: "example": should be a domain with at least two segments separated by dots`}},
		{"nothing", "roots", "", "", []string{fault + "at least one trust anchor must be provided"}},
		{"no PEM", "roots", "", "roots", []string{fault + "at least one trust anchor must be provided"}},
		{"a key", "roots", "", a + block("PRIVATE KEY", []byte("x"), nil), []string{fault + "entry 1 has bad block type: PRIVATE KEY"}},
		{"headers", "roots", "", block("CERTIFICATE", Certificate(t, ca), map[string]string{"a": "b"}), []string{fault + "entry 0 has PEM block headers"}},
		{"broken", "roots", "", block("CERTIFICATE", []byte("x"), nil), []string{fault + "entry 0 does not parse as X.509"}},
		{"no CA", "roots", "", block("CERTIFICATE", leaf, nil), []string{fault + "entry 0 does not have the CA bit set"}},
		{"twice", "roots", "", a + b + a, []string{fault + "duplicate trust anchor (indices [0 2])"}},
		{"too long", "roots", "", strings.Repeat(" ", 1<<20) + a, []string{"spec.trustBundle: Too long: may not be more than 1048576 bytes"}},
	} {
		obj := Parse(t, bundle(c.name, c.signer, c.text))
		Expect(t, c.what, Create(k, obj), c.want)
	}
	many := Parse(t, bundle("roots", "", strings.Repeat(block("X", nil, nil), 9999)))
	if faults := Create(k, many); len(faults) != 16 {
		t.Errorf("%d faults of a text of nothing but faults", len(faults))
	}
}

// TestClusterTrustBundleUpdate: the signer is immutable, and an unchanged stored bundle is not
// validated again.
func TestClusterTrustBundleUpdate(t *testing.T) {
	k := KindByGVK(t, meta.Platform, "certificates.platform.io", "v1beta1", "ClusterTrustBundle")
	before := Parse(t, bundle("a.b:c:1", "a.b/c", "what was valid before"))
	rules.Default(k, before)
	Expect(t, "unchanged", Update(k, Parse(t, bundle("a.b:c:1", "a.b/c", "what was valid before")), before), nil)
	Expect(t, "changed", Update(k, Parse(t, bundle("a.b:c:1", "a.b/c", "else")), before), []string{
		`spec.trustBundle: Invalid value: "<value omitted>": at least one trust anchor must be provided`})
	root := block("CERTIFICATE", Certificate(t, &x509.Certificate{IsCA: true, BasicConstraintsValid: true}), nil)
	Expect(t, "signer", Update(k, Parse(t, bundle("a.b:c:1", "a.b/d", root)), before), []string{
		`metadata.name: Invalid value: "a.b:c:1": ClusterTrustBundle for signerName a.b/d must be named with prefix a.b:d:`,
		`spec.signerName: Invalid value: "a.b/d": field is immutable`})
}
