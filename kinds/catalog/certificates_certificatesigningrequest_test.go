package catalog_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// encoded is data as the base64 of a PEM block of a type.
func encoded(kind string, data []byte) string {
	return base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: data}))
}

func certificateRequest(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: "jane"}}, key)
	if err != nil {
		t.Fatal(err)
	}
	return encoded("CERTIFICATE REQUEST", der)
}

func TestCertificateRequest(t *testing.T) {
	k := kindInGroup(t, meta.Kubernetes, "certificates.platform.io", "CertificateSigningRequest")
	good := certificateRequest(t)
	request := func(signer, more string) string {
		return `{"spec":{"request":"` + good + `","signerName":"` + signer + `","usages":["client auth"]` + more + `}}`
	}
	runValidationCases(t, k, []validationCase{
		{name: "good", obj: request("example.com/a.b", `,"expirationSeconds":600`)},
		{name: "no PEM", obj: strings.Replace(request("example.com/a", ""), good, "bm9wZQ==", 1), want: []string{`spec.request: Invalid value: "bm9wZQ==": PEM block type must be CERTIFICATE REQUEST`}},
		{name: "other PEM", obj: strings.Replace(request("example.com/a", ""), good, encoded("CERTIFICATE", []byte("x")), 1), want: []string{`spec.request: Invalid value: …`}},
		{name: "broken", obj: strings.Replace(request("example.com/a", ""), good, encoded("CERTIFICATE REQUEST", []byte("\x30\x10")), 1), want: []string{`spec.request: Invalid value: …`}},
		{name: "no signer", obj: request("", ""), want: []string{`spec.signerName: Required value`}},
		{name: "legacy signer", obj: request("kubernetes.io/legacy-unknown", ""), want: []string{`spec.signerName: Invalid value: "kubernetes.io/legacy-unknown": the legacy signerName is not allowed via this API version`}},
		{name: "no path", obj: request("example.com", ""), want: []string{`spec.signerName: Invalid value: "example.com": must be a fully qualified domain and path of the form 'example.com/signer-name'`}},
		{name: "short domain", obj: request("example/a", ""), want: []string{`spec.signerName: Invalid value: "example": should be a domain with at least two segments separated by dots`}},
		{name: "bad labels", obj: request("Example.com/A", ""), want: []string{`spec.signerName: Invalid value: "Example.com": validating label "Example": a lowercase…`, `spec.signerName: Invalid value: "A": validating label "A": a lowercase…`}},
		{name: "long", obj: request("example.com/"+strings.Repeat(strings.Repeat("a", 250)+".", 2)+strings.Repeat("a", 60), ""), want: []string{`spec.signerName: Too long: may not be more than 571 bytes`}},
		{name: "short life", obj: request("example.com/a", `,"expirationSeconds":599`), want: []string{`spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 600 seconds (10 minutes)`}},
		{name: "usages", obj: `{"spec":{"request":"` + good + `","signerName":"a.b/c","usages":["any","any","all"]}}`, want: []string{`spec.usages[1]: Duplicate value: "any"`, `spec.usages[2]: Unsupported value: "all": supported values: "any", …`}},
		{name: "no usages", obj: `{"spec":{"request":"` + good + `","signerName":"a.b/c"}}`, want: []string{`spec.usages: Required value`}},
	})
	obj := named(k, parseTree(t, request("example.com/a", `,"username":"root","uid":"0","groups":["system:masters"],"extra":{"a":["b"]}`)))
	obj["status"] = parseTree(t, `{"conditions":[{"type":"Approved","status":"True"}]}`)
	expect(t, "claims", create(k, obj), nil)
	equalJSON(t, "who asks", obj.Object("spec").SortedKeys(), `["request","signerName","usages"]`)
	equalJSON(t, "status", obj["status"], `{}`)
	now := named(k, parseTree(t, request("other.com/b", "")))
	expect(t, "update", update(k, now, obj), nil)
	equalJSON(t, "signer", now.Object("spec")["signerName"], `"example.com/a"`)
}

// writeDecision writes a status through a sub-resource and returns all faults.
func writeDecision(t *testing.T, k *schema.Kind, sub string, obj tree.Tree, status string) []string {
	t.Helper()
	var faults schema.Faults
	if err := k.Subresource(sub).View.Write(obj, tree.Tree{"status": parseTree(t, status)}, "2026-01-02T00:00:00Z", &faults); err != nil {
		t.Fatal(err)
	}
	return lines(append(faults.List, rules.Validate(k, obj)...))
}

// certificateText is a certificate as a status holds it.
func certificateText(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return encoded("CERTIFICATE", der)
}

func TestCertificateDecisions(t *testing.T) {
	good := certificateText(t)
	k := kindInGroup(t, meta.Platform, "certificates.platform.io", "CertificateSigningRequest")
	const approved = `{"type":"Approved","status":"True","reason":"r","lastUpdateTime":"2026-01-01T00:00:00Z","lastTransitionTime":"2026-01-01T00:00:00Z"}`
	certificate := encoded("CERTIFICATE", []byte("x"))
	for _, c := range []struct {
		sub, old, status string
		want             []string
	}{
		{"approval", `{}`, `{"conditions":[{"type":"Denied","status":"True"}]}`, nil},
		{"approval", `{}`, `{"conditions":[{"type":"Approved"}]}`, []string{`status.conditions[0].status: Required value`}},
		{"approval", `{}`, `{"conditions":[{"type":"Approved","status":"False"},{"type":"Mine","status":"Maybe"},{"status":"True"}]}`, []string{
			`status.conditions[0].status: Unsupported value: "False": supported values: "True"`,
			`status.conditions[1].status: Unsupported value: "Maybe": supported values: "False", "True", "Unknown"`, `status.conditions[2].type: Required value`}},
		{"approval", `{"conditions":[` + approved + `]}`, `{"conditions":[` + approved + `,{"type":"Denied","status":"True"}]}`, []string{`status.conditions[1].type: Invalid value: "Denied": Approved and Denied conditions are mutually exclusive`}},
		{"approval", `{"conditions":[` + approved + `]}`, `{"conditions":[` + approved + `,` + approved + `]}`, []string{`status.conditions[1].type: Duplicate value: "Approved"`}},
		{"approval", `{"conditions":[` + approved + `]}`, `{}`, []string{`status.conditions: Forbidden: updates may not remove a condition of type "Approved"`}},
		{"approval", `{}`, `{"certificate":"` + certificate + `"}`, []string{`status.certificate: Forbidden: updates may not set certificate content`}},
		{"status", `{}`, `{"conditions":[` + approved + `]}`, []string{`status.conditions: Forbidden: updates may not add a condition of type "Approved"`}},
		{"status", `{"conditions":[` + approved + `]}`, `{}`, []string{`status.conditions: Forbidden: updates may not remove a condition of type "Approved"`}},
		{"status", `{"conditions":[` + approved + `]}`, `{"conditions":[` + approved + `,{"type":"Failed","status":"True"}]}`, nil},
		{"status", `{"conditions":[` + approved + `]}`, `{"conditions":[` + approved + `],"certificate":"bm9wZQ=="}`, []string{`status.certificate: Invalid value: "<certificate data>": must contain at least one CERTIFICATE PEM block`}},
		{"status", `{"conditions":[` + approved + `]}`, `{"conditions":[` + approved + `],"certificate":"` + encoded("PRIVATE KEY", []byte("x")) + `"}`, []string{`status.certificate: Invalid value: "<certificate data>": only CERTIFICATE PEM blocks are allowed, found "PRIVATE KEY"`}},
		{"status", `{"conditions":[` + approved + `]}`, `{"conditions":[` + approved + `],"certificate":"` + certificate + `"}`, []string{`status.certificate: Invalid value: "<certificate data>": x509: …`}},
		{"status", `{}`, `{"certificate":"` + good + `"}`, []string{`status.certificate: Forbidden: updates may not set the certificate of a request that is not approved`}},
		{"status", `{"conditions":[{"type":"Denied","status":"True"}]}`, `{"conditions":[{"type":"Denied","status":"True"}],"certificate":"` + good + `"}`, []string{`status.certificate: Forbidden: updates may not set the certificate of a request that is not approved`}},
		{"status", `{"conditions":[` + approved + `]}`, `{"conditions":[` + approved + `],"certificate":"` + good + `"}`, nil},
		{"status", `{"conditions":[` + approved + `]}`, `{"conditions":[` + approved + `,{"type":"Failed","status":"True"}],"certificate":"` + good + `"}`, []string{`status.certificate: Forbidden: updates may not set the certificate of a request that has failed`}},
		{"status", `{"conditions":[` + approved + `],"certificate":"` + good + `"}`, `{"conditions":[` + approved + `,{"type":"Failed","status":"True"}],"certificate":"` + good + `"}`, []string{`status.conditions: Forbidden: updates may not add a condition of type "Failed" to a request whose certificate is issued`}},
		{"approval", `{"conditions":[` + approved + `],"certificate":"` + good + `"}`, `{"conditions":[` + approved + `,{"type":"Failed","status":"True"}]}`, []string{`status.conditions: Forbidden: updates may not add a condition of type "Failed" to a request whose certificate is issued`}},
		{"status", `{"certificate":"AA=="}`, `{"certificate":""}`, []string{`status.certificate: Forbidden: updates may not modify existing certificate content`}},
	} {
		obj := named(k, parseTree(t, `{"spec":{"request":"`+certificateRequest(t)+`","signerName":"a.b/c","usages":["any"]},"status":`+c.old+`}`))
		expect(t, c.sub+": "+c.old+" → "+c.status, writeDecision(t, k, c.sub, obj, c.status), c.want)
	}
}

func TestCertificateTimes(t *testing.T) {
	k := kindInGroup(t, meta.Platform, "certificates.platform.io", "CertificateSigningRequest")
	obj := parseTree(t, `{"status":{"conditions":[{"type":"Approved","status":"True","lastUpdateTime":"2026-01-01T00:00:00Z","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`)
	writeDecision(t, k, "approval", obj, `{"conditions":[{"type":"Approved","status":"True","reason":"again"},{"type":"Mine","status":"True"}]}`)
	equalJSON(t, "conditions", obj.Object("status")["conditions"], `[
		{"type":"Approved","status":"True","reason":"again","lastUpdateTime":"2026-01-02T00:00:00Z","lastTransitionTime":"2026-01-01T00:00:00Z"},
		{"type":"Mine","status":"True","lastUpdateTime":"2026-01-02T00:00:00Z","lastTransitionTime":"2026-01-02T00:00:00Z"}]`)
}
