package api_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

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
	return Encoded("CERTIFICATE REQUEST", der)
}

func TestCertificateRequest(t *testing.T) {
	k := KindInGroup(t, meta.Kubernetes, "certificates.platform.io", "CertificateSigningRequest")
	good := certificateRequest(t)
	request := func(signer, more string) string {
		return `{"spec":{"request":"` + good + `","signerName":"` + signer + `","usages":["client auth"]` + more + `}}`
	}
	RunValidationCases(t, k, []ValidationCase{
		{Name: "good", Obj: request("example.com/a.b", `,"expirationSeconds":600`)},
		{Name: "no PEM", Obj: strings.Replace(request("example.com/a", ""), good, "bm9wZQ==", 1), Want: []string{`spec.request: Invalid value: "bm9wZQ==": PEM block type must be CERTIFICATE REQUEST`}},
		{Name: "other PEM", Obj: strings.Replace(request("example.com/a", ""), good, Encoded("CERTIFICATE", []byte("x")), 1), Want: []string{`spec.request: Invalid value: …`}},
		{Name: "broken", Obj: strings.Replace(request("example.com/a", ""), good, Encoded("CERTIFICATE REQUEST", []byte("\x30\x10")), 1), Want: []string{`spec.request: Invalid value: …`}},
		{Name: "no signer", Obj: request("", ""), Want: []string{`spec.signerName: Required value`}},
		{Name: "legacy signer", Obj: request("kubernetes.io/legacy-unknown", ""), Want: []string{`spec.signerName: Invalid value: "kubernetes.io/legacy-unknown": the legacy signerName is not allowed via this API version`}},
		{Name: "no path", Obj: request("example.com", ""), Want: []string{`spec.signerName: Invalid value: "example.com": must be a fully qualified domain and path of the form 'example.com/signer-name'`}},
		{Name: "short domain", Obj: request("example/a", ""), Want: []string{`spec.signerName: Invalid value: "example": should be a domain with at least two segments separated by dots`}},
		{Name: "bad labels", Obj: request("Example.com/A", ""), Want: []string{`spec.signerName: Invalid value: "Example.com": validating label "Example": a lowercase…`, `spec.signerName: Invalid value: "A": validating label "A": a lowercase…`}},
		{Name: "long", Obj: request("example.com/"+strings.Repeat(strings.Repeat("a", 250)+".", 2)+strings.Repeat("a", 60), ""), Want: []string{`spec.signerName: Too long: may not be more than 571 bytes`}},
		{Name: "short life", Obj: request("example.com/a", `,"expirationSeconds":599`), Want: []string{`spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 600 seconds (10 minutes)`}},
		{Name: "usages", Obj: `{"spec":{"request":"` + good + `","signerName":"a.b/c","usages":["any","any","all"]}}`, Want: []string{`spec.usages[1]: Duplicate value: "any"`, `spec.usages[2]: Unsupported value: "all": supported values: "any", …`}},
		{Name: "no usages", Obj: `{"spec":{"request":"` + good + `","signerName":"a.b/c"}}`, Want: []string{`spec.usages: Required value`}},
	})
	obj := Named(k, Parse(t, request("example.com/a", `,"username":"root","uid":"0","groups":["system:masters"],"extra":{"a":["b"]}`)))
	obj["status"] = Parse(t, `{"conditions":[{"type":"Approved","status":"True"}]}`)
	Expect(t, "claims", Create(k, obj), nil)
	EqualJSON(t, "who asks", obj.Object("spec").SortedKeys(), `["request","signerName","usages"]`)
	EqualJSON(t, "status", obj["status"], `{}`)
	now := Named(k, Parse(t, request("other.com/b", "")))
	Expect(t, "update", Update(k, now, obj), nil)
	EqualJSON(t, "signer", now.Object("spec")["signerName"], `"example.com/a"`)
}

// writeDecision writes a status through a subresource and returns all faults.
func writeDecision(t *testing.T, k *schema.Kind, sub string, obj tree.Tree, status string) []string {
	t.Helper()
	var faults schema.Faults
	if err := k.Subresource(sub).View.Write(obj, tree.Tree{"status": Parse(t, status)}, "2026-01-02T00:00:00Z", &faults); err != nil {
		t.Fatal(err)
	}
	return Lines(append(faults.List, rules.Validate(k, obj)...))
}

func TestCertificateDecisions(t *testing.T) {
	good := CertificateText(t)
	k := KindInGroup(t, meta.Platform, "certificates.platform.io", "CertificateSigningRequest")
	const approved = `{"type":"Approved","status":"True","reason":"r","lastUpdateTime":"2026-01-01T00:00:00Z","lastTransitionTime":"2026-01-01T00:00:00Z"}`
	certificate := Encoded("CERTIFICATE", []byte("x"))
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
		{"status", `{"conditions":[` + approved + `]}`, `{"conditions":[` + approved + `],"certificate":"` + Encoded("PRIVATE KEY", []byte("x")) + `"}`, []string{`status.certificate: Invalid value: "<certificate data>": only CERTIFICATE PEM blocks are allowed, found "PRIVATE KEY"`}},
		{"status", `{"conditions":[` + approved + `]}`, `{"conditions":[` + approved + `],"certificate":"` + certificate + `"}`, []string{`status.certificate: Invalid value: "<certificate data>": x509: …`}},
		{"status", `{}`, `{"certificate":"` + good + `"}`, []string{`status.certificate: Forbidden: updates may not set the certificate of a request that is not approved`}},
		{"status", `{"conditions":[{"type":"Denied","status":"True"}]}`, `{"conditions":[{"type":"Denied","status":"True"}],"certificate":"` + good + `"}`, []string{`status.certificate: Forbidden: updates may not set the certificate of a request that is not approved`}},
		{"status", `{"conditions":[` + approved + `]}`, `{"conditions":[` + approved + `],"certificate":"` + good + `"}`, nil},
		{"status", `{"conditions":[` + approved + `]}`, `{"conditions":[` + approved + `,{"type":"Failed","status":"True"}],"certificate":"` + good + `"}`, []string{`status.certificate: Forbidden: updates may not set the certificate of a request that has failed`}},
		{"status", `{"conditions":[` + approved + `],"certificate":"` + good + `"}`, `{"conditions":[` + approved + `,{"type":"Failed","status":"True"}],"certificate":"` + good + `"}`, []string{`status.conditions: Forbidden: updates may not add a condition of type "Failed" to a request whose certificate is issued`}},
		{"approval", `{"conditions":[` + approved + `],"certificate":"` + good + `"}`, `{"conditions":[` + approved + `,{"type":"Failed","status":"True"}]}`, []string{`status.conditions: Forbidden: updates may not add a condition of type "Failed" to a request whose certificate is issued`}},
		{"status", `{"certificate":"AA=="}`, `{"certificate":""}`, []string{`status.certificate: Forbidden: updates may not modify existing certificate content`}},
	} {
		obj := Named(k, Parse(t, `{"spec":{"request":"`+certificateRequest(t)+`","signerName":"a.b/c","usages":["any"]},"status":`+c.old+`}`))
		Expect(t, c.sub+": "+c.old+" → "+c.status, writeDecision(t, k, c.sub, obj, c.status), c.want)
	}
}

func TestCertificateTimes(t *testing.T) {
	k := KindInGroup(t, meta.Platform, "certificates.platform.io", "CertificateSigningRequest")
	obj := Parse(t, `{"status":{"conditions":[{"type":"Approved","status":"True","lastUpdateTime":"2026-01-01T00:00:00Z","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`)
	writeDecision(t, k, "approval", obj, `{"conditions":[{"type":"Approved","status":"True","reason":"again"},{"type":"Mine","status":"True"}]}`)
	EqualJSON(t, "conditions", obj.Object("status")["conditions"], `[
		{"type":"Approved","status":"True","reason":"again","lastUpdateTime":"2026-01-02T00:00:00Z","lastTransitionTime":"2026-01-01T00:00:00Z"},
		{"type":"Mine","status":"True","lastUpdateTime":"2026-01-02T00:00:00Z","lastTransitionTime":"2026-01-02T00:00:00Z"}]`)
}
