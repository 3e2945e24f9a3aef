package policy_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/admission/plugins"
)

// certificateRequest returns the spec.request of a CertificateSigningRequest for a subject.
func certificateRequest(t *testing.T, name string, organizations ...string) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: name, Organization: organizations}}, key)
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}))
}

func TestCertificateRequests(t *testing.T) {
	chain := newChain(t, storedObjects{}, plugins.CertificateRequester(), plugins.CertificateSubjectRestriction(meta.Platform))
	masters, plain := certificateRequest(t, "jane", "system:masters"), certificateRequest(t, "jane", "dev")
	const csr, client = "certificates.platform.io/certificatesigningrequests", "platform.io/apiserver-client"
	const janes = `"extra":{"k":["v"]},"groups":["dev"],`
	request := func(signer, text string) string {
		return `{"spec":{"request":"` + text + `","signerName":"` + signer + `"}}`
	}
	stored := func(signer, text string) string {
		return `{"spec":{` + janes + `"request":"` + text + `","signerName":"` + signer + `","uid":"u1","username":"jane"}}`
	}
	for _, test := range []admissionTest{
		{name: "who asks for a certificate", resource: csr, new: request("a/b", plain), want: stored("a/b", plain)},
		{name: "a certificate of masters", resource: csr, new: request(client, masters), fault: "use of " + client + " signer with system:masters group is not allowed"},
		{name: "of another group", resource: csr, new: request(client, plain), want: stored(client, plain)},
		{name: "of another signer", resource: csr, new: request("a/b", masters), want: stored("a/b", masters)},
		{name: "unreadable", resource: csr, new: request(client, "eA=="), fault: "failed to parse CSR: PEM block type must be CERTIFICATE REQUEST"},
		{name: "an update", resource: csr, old: request(client, masters), new: request(client, masters)},
		{name: "a delete", resource: csr, old: request(client, masters)},
	} {
		test.run(t, chain)
	}
}

// TestSigners tests that rights are checked for the signer of the old object.
func TestSigners(t *testing.T) {
	const csr, ctb = "certificates.platform.io/certificatesigningrequests", "certificates.platform.io/clustertrustbundles"
	signed := func(status string) string { return `{"spec":{"signerName":"example.com/s"},"status":` + status + `}` }
	bundle := func(signer, text string) string {
		return `{"metadata":{},"spec":{"signerName":"` + signer + `","trustBundle":"` + text + `"}}`
	}
	may := func(verb, name string) permissions {
		return permissions{verb + " certificates.platform.io/signers/ /" + name}
	}
	const attest = `user not permitted to attest for signerName "example.com/s"`
	for _, test := range []struct {
		admissionTest
		may permissions
	}{
		{admissionTest{name: "approval without the right", resource: csr + "/approval", old: signed(`{}`), new: signed(`{}`),
			fault: `user not permitted to approve requests with signerName "example.com/s"`}, may("sign", "example.com/s")},
		{admissionTest{name: "approval by name", resource: csr + "/approval", old: signed(`{}`), new: signed(`{}`)}, may("approve", "example.com/s")},
		{admissionTest{name: "approval by domain", resource: csr + "/approval", old: signed(`{}`), new: signed(`{}`)}, may("approve", "example.com/*")},
		{admissionTest{name: "approval of another signer", resource: csr + "/approval", old: signed(`{}`), new: `{"spec":{"signerName":"mine.com/s"}}`,
			fault: `signerName "example.com/s"`}, may("approve", "mine.com/s")},
		{admissionTest{name: "signing without the right", resource: csr + "/status", old: signed(`{}`), new: signed(`{"certificate":"x"}`),
			fault: `user not permitted to sign requests with signerName "example.com/s"`}, may("approve", "example.com/s")},
		{admissionTest{name: "a verdict without the right", resource: csr + "/status", old: signed(`{}`), new: signed(`{"conditions":[{"type":"Failed"}]}`),
			fault: `not permitted to sign`}, nil},
		{admissionTest{name: "signing", resource: csr + "/status", old: signed(`{}`), new: signed(`{"certificate":"x"}`)}, may("sign", "example.com/*")},
		{admissionTest{name: "a status that decides nothing", resource: csr + "/status", old: signed(`{"certificate":"x"}`), new: signed(`{"certificate":"x"}`)}, nil},

		{admissionTest{name: "a bundle without the right", resource: ctb, new: bundle("example.com/s", "a"), fault: attest}, may("sign", "example.com/s")},
		{admissionTest{name: "a bundle", resource: ctb, new: bundle("example.com/s", "a")}, may("attest", "example.com/s")},
		{admissionTest{name: "a bundle of the domain", resource: ctb, new: bundle("example.com/s", "a")}, may("attest", "example.com/*")},
		{admissionTest{name: "a bundle of nobody", resource: ctb, new: bundle("", "a")}, nil},
		{admissionTest{name: "another text", resource: ctb, old: bundle("example.com/s", "a"), new: bundle("example.com/s", "b"), fault: attest}, nil},
		{admissionTest{name: "a signer taken away", resource: ctb, old: bundle("example.com/s", "a"), new: bundle("", "a"), fault: attest}, nil},
		{admissionTest{name: "another signer", resource: ctb, old: bundle("mine.com/s", "a"), new: bundle("example.com/s", "a"), fault: attest}, may("attest", "mine.com/s")},
		{admissionTest{name: "owners alone", resource: ctb, old: bundle("example.com/s", "a"),
			new: `{"metadata":{"finalizers":["a.b/c"],"ownerReferences":[{"uid":"1"}]},"spec":{"signerName":"example.com/s","trustBundle":"a"}}`}, nil},
		{admissionTest{name: "a delete", resource: ctb, old: bundle("example.com/s", "a")}, nil},
	} {
		test.run(t, newChain(t, storedObjects{}, plugins.CertificateApproval(test.may, meta.Platform), plugins.CertificateSigning(test.may, meta.Platform),
			plugins.ClusterTrustBundleAttest(test.may, meta.Platform)))
	}
}
