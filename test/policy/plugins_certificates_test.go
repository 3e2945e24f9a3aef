package policy

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"testing"

	"github.com/troupe-api/troupe/test/client/pki"
)

// certificateRequestPlugins is a CertificateSigningRequest for a subject.
func certificateRequestPlugins(t *testing.T, object, signer, name, organization string) string {
	t.Helper()
	request := pki.Request(t, x509.CertificateRequest{Subject: pkix.Name{CommonName: name, Organization: []string{organization}}}, pki.NewKey(t))
	text := base64.StdEncoding.EncodeToString(request)
	return `{"metadata":{"name":"` + object + `"},"spec":{"signerName":"` + signer + `","usages":["client auth"],"request":"` + text + `"}}`
}

func TestCertificateSubjects(t *testing.T) {
	inProfilesPlugins(t, nil, nil, func(c *pluginTestCluster) {
		c.expect("root", "POST", csrs, certificateRequestPlugins(c.t, "a", "platform.io/apiserver-client", "jane", "system:masters"), 403,
			`certificatesigningrequests.certificates.platform.io "a" is forbidden: use of platform.io/apiserver-client signer with system:masters group is not allowed`)
		c.must(csrs, certificateRequestPlugins(c.t, "a", "platform.io/apiserver-client", "jane", "dev"))
		c.must(csrs, certificateRequestPlugins(c.t, "b", "example.com/s", "jane", "system:masters"))
	})
}

// Who may write the sub-resource still needs the right on the signer, by its name or that of its domain.
func TestSignerRights(t *testing.T) {
	inProfilesPlugins(t, nil, []testUser{{"jane", ""}, {"joe", ""}}, func(c *pluginTestCluster) {
		const group = `{"apiGroups":["certificates.platform.io"],"resources":["`
		c.grant("jane", "approvers", group+`certificatesigningrequests/approval"],"verbs":["patch"]},`+group+`signers"],"resourceNames":["example.com/*"],"verbs":["approve"]}`)
		c.grant("joe", "signers", group+`certificatesigningrequests/status"],"verbs":["patch"]},`+group+`signers"],"resourceNames":["example.com/s"],"verbs":["sign"]}`)
		c.must(csrs, certificateRequestPlugins(c.t, "ours", "example.com/s", "x", "dev"))
		c.must(csrs, certificateRequestPlugins(c.t, "theirs", "example.org/s", "x", "dev"))
		const approved = `{"status":{"conditions":[{"type":"Approved","status":"True","reason":"r","message":"m"}]}}`
		const failed = `{"status":{"conditions":[{"type":"Failed","status":"True","reason":"r","message":"m"}]}}`
		c.expect("jane", "PATCH", csrs+"/ours/approval", approved, 200)
		c.expect("jane", "PATCH", csrs+"/theirs/approval", approved, 403,
			`certificatesigningrequests.certificates.platform.io "theirs" is forbidden: user not permitted to approve requests with signerName "example.org/s"`)
		c.expect("joe", "PATCH", csrs+"/theirs/status", failed, 403, `user not permitted to sign requests with signerName "example.org/s"`)
		c.expect("joe", "PATCH", csrs+"/theirs/status", `{"status":{}}`, 200)
		c.must(csrs, certificateRequestPlugins(c.t, "bad", "example.com/s", "x", "dev"))
		c.expect("joe", "PATCH", csrs+"/bad/status", failed, 200)
	})
}
