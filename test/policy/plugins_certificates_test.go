package policy

import (
	"testing"

	"github.com/troupe-api/troupe/test/client/pki"
)

func TestCertificateSubjects(t *testing.T) {
	serveUsersInProfiles(t, nil, nil, func(c *userCluster) {
		c.expect("root", "POST", csrs, pki.SigningRequest(c.t, "a", "platform.io/apiserver-client", "jane", "system:masters"), 403,
			`certificatesigningrequests.certificates.platform.io "a" is forbidden: use of platform.io/apiserver-client signer with system:masters group is not allowed`)
		c.must(csrs, pki.SigningRequest(c.t, "a", "platform.io/apiserver-client", "jane", "dev"))
		c.must(csrs, pki.SigningRequest(c.t, "b", "example.com/s", "jane", "system:masters"))
	})
}

// Who may write the sub-resource still needs the right on the signer, by its name or that of its domain.
func TestSignerRights(t *testing.T) {
	serveUsersInProfiles(t, nil, []string{"jane", "joe"}, func(c *userCluster) {
		const group = `{"apiGroups":["certificates.platform.io"],"resources":["`
		c.bind("approvers", "jane", group+`certificatesigningrequests/approval"],"verbs":["patch"]},`+group+`signers"],"resourceNames":["example.com/*"],"verbs":["approve"]}`)
		c.bind("signers", "joe", group+`certificatesigningrequests/status"],"verbs":["patch"]},`+group+`signers"],"resourceNames":["example.com/s"],"verbs":["sign"]}`)
		c.must(csrs, pki.SigningRequest(c.t, "ours", "example.com/s", "x", "dev"))
		c.must(csrs, pki.SigningRequest(c.t, "theirs", "example.org/s", "x", "dev"))
		const approved = `{"status":{"conditions":[{"type":"Approved","status":"True","reason":"r","message":"m"}]}}`
		const failed = `{"status":{"conditions":[{"type":"Failed","status":"True","reason":"r","message":"m"}]}}`
		c.expect("jane", "PATCH", csrs+"/ours/approval", approved, 200)
		c.expect("jane", "PATCH", csrs+"/theirs/approval", approved, 403,
			`certificatesigningrequests.certificates.platform.io "theirs" is forbidden: user not permitted to approve requests with signerName "example.org/s"`)
		c.expect("joe", "PATCH", csrs+"/theirs/status", failed, 403, `user not permitted to sign requests with signerName "example.org/s"`)
		c.expect("joe", "PATCH", csrs+"/theirs/status", `{"status":{}}`, 200)
		c.must(csrs, pki.SigningRequest(c.t, "bad", "example.com/s", "x", "dev"))
		c.expect("joe", "PATCH", csrs+"/bad/status", failed, 200)
	})
}
