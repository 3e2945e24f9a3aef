package policy

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"testing"

	"github.com/troupe-api/troupe/test/client"
	"github.com/troupe-api/troupe/test/client/pki"
)

// TestApprover checks that CSRs for node client certificates are approved only if the requester has
// the required permission.
func TestApprover(t *testing.T) {
	openCertificatesInProfiles(t, nil, func(c *certificateCluster) {
		const self, boot = "system:node:n1", "system:bootstrap:abcdef"
		nodes := []string{"system:nodes"}
		joining := order{signer: nodeClientSigner, usages: "client auth,digital signature,key encipherment", CertificateRequest: x509.CertificateRequest{Subject: node("n1")}}
		may := []byte(`{"metadata":{"name":"ask"},"roleRef":{"apiGroup":"rbac.authorization.platform.io","kind":"ClusterRole","name":"system:node-bootstrapper"},"subjects":[
			{"apiGroup":"rbac.authorization.platform.io","kind":"User","name":"` + self + `"},{"apiGroup":"rbac.authorization.platform.io","kind":"User","name":"` + boot + `"}]}`)
		c.must(201, "POST", "/apis/rbac.authorization.platform.io/v1/clusterrolebindings", client.JSON, string(may))
		ask := func(user, name string, o order) {
			c.as(user, nodes, 201, "POST", csrs, client.JSON, o.body(c.T, name, pki.NewKey(c.T)))
		}
		ask(self, "self", joining)
		ask(boot, "boot", joining)
		other := joining
		other.Subject = node("n2")
		ask(self, "other", other)
		serving, person, named := joining, joining, joining
		serving.signer, serving.usages, serving.DNSNames = nodeServerSigner, "server auth,digital signature", []string{"n1"}
		person.signer, person.usages, person.Subject = certificateClientSigner, "client auth", pkix.Name{CommonName: self}
		named.DNSNames = []string{"n1"}
		ask(self, "serving", serving)
		ask(self, "person", person)
		ask(self, "named", named)
		ask(self, "refused", joining)
		c.decide("refused", "Denied", 0)

		// The permission may be granted after the request.
		c.grant(self, "selfnodeclient")
		if got := c.condition("self", "Approved"); got != "AutoApproved: Auto approving self kubelet client certificate after SubjectAccessReview." {
			c.T.Error(got)
		}
		c.grant(boot, "nodeclient")
		if got := c.condition("boot", "Approved"); got != "AutoApproved: Auto approving kubelet client certificate after SubjectAccessReview." {
			c.T.Error(got)
		}
		if cert := c.certificate("boot"); cert.Subject.CommonName != self {
			c.T.Errorf("signed for %v", cert.Subject)
		}
		for _, name := range []string{"other", "serving", "person", "named"} {
			if all := c.conditions(name); len(all) > 0 {
				c.T.Errorf("%s: %v", name, all)
			}
		}
		if all := c.conditions("refused"); len(all) != 1 {
			c.T.Errorf("a request that was denied: %v", all)
		}
	})
}

// TestOwnCertificate checks that an issued client certificate authenticates its subject.
func TestOwnCertificate(t *testing.T) {
	openCertificatesInProfiles(t, nil, func(c *certificateCluster) {
		key := c.ask("jane", order{signer: certificateClientSigner, usages: "client auth", CertificateRequest: x509.CertificateRequest{Subject: pkix.Name{CommonName: "jane", Organization: []string{"dev", "ops"}}}})
		c.decide("jane", "Approved", 0)
		if got := c.whoami(c.certificate("jane"), key); got != "jane dev,ops,system:authenticated" {
			c.T.Error(got)
		}
		// A serving certificate does not authenticate clients.
		key = c.ask("n1", order{signer: nodeServerSigner, usages: "server auth,digital signature", CertificateRequest: x509.CertificateRequest{Subject: node("n1"), DNSNames: []string{"n1"}}})
		c.decide("n1", "Approved", 0)
		if got := c.whoami(c.certificate("n1"), key); got != "" {
			c.T.Errorf("a serving certificate makes a client %s", got)
		}
	})
}
