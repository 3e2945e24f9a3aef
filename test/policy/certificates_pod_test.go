package policy

import (
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
	"github.com/troupe-api/troupe/test/client/pki"
)

const podRequests = "/apis/certificates.platform.io/v1/namespaces/default/podcertificaterequests"

// fails checks that a request is rejected with a message that contains text.
func (c *certificateCluster) fails(user string, groups []string, code int, text, method, path, contentType, body string) {
	c.T.Helper()
	if o := c.as(user, groups, code, method, path, contentType, body); !strings.Contains(fmt.Sprint(o["message"]), text) {
		c.T.Errorf("%s %s as %s: %v, want %s", method, path, user, o["message"], text)
	}
}

// TestPodCertificates requests a certificate as a Pod's node, and issues it as a signer. The tests
// of package actors/controllers check that requests are deleted after 15 minutes.
func TestPodCertificates(t *testing.T) {
	openCertificatesInProfiles(t, func(c *daemon.Config) {
		c.Authorization.Modes, c.Admission.Enable = []string{"Node", "RBAC"}, []string{"NodeRestriction"}
		c.API.RuntimeConfig = daemon.Switches{client.Named(c.Naming, "certificates.platform.io/v1beta1"): true}
	}, func(c *certificateCluster) {
		begin := time.Now().UTC().Truncate(time.Second)
		issued := pki.Issue(c.T, tls.Certificate{}, &x509.Certificate{NotBefore: begin, NotAfter: begin.Add(2 * time.Hour)})
		request := c.podRequest(issued.PrivateKey.(*ecdsa.PrivateKey))
		const n1, n2 = "system:node:n1", "system:node:n2"
		nodes := []string{"system:nodes"}

		c.fails(n2, nodes, 403, `which is not the requesting node "n2"`, "POST", podRequests, client.JSON, request)
		c.fails(n1, nodes, 403, `does not mount a podCertificate projected volume for signer "example.com/t"`, "POST", podRequests, client.JSON,
			strings.Replace(request, "example.com/s", "example.com/t", 1))
		if o := c.as(n1, nodes, 201, "POST", podRequests, client.JSON, request); o.At("spec.maxExpirationSeconds") != 86400.0 || len(o.At("status").(map[string]any)) > 0 {
			c.T.Errorf("created: %v", o)
		}
		client.Eventually(c.T, func() error { // the authorizer follows the request
			answer := client.Exchange(c.T, client.Transport(c.T, c.TLS), "GET", c.URL+c.named(podRequests+"/r"), "", "Impersonate-User: "+n1, "Impersonate-Group: system:nodes")
			if answer.Code != 200 {
				return fmt.Errorf("%s", answer)
			}
			return nil
		})
		c.as(n2, nodes, 403, "GET", podRequests+"/r", "", "")
		c.as(n1, nodes, 403, "GET", podRequests, "", "")
		c.as(n1, nodes, 403, "DELETE", podRequests+"/r", "", "")
		for selector, want := range map[string]int{"spec.nodeName=n1": 1, "spec.nodeName=n1,spec.podName=p,spec.signerName=example.com/s": 1, "spec.nodeName=n1,spec.podName=q": 0} {
			if o := c.as(n1, nodes, 200, "GET", podRequests+"?fieldSelector="+selector, "", ""); len(o["items"].([]any)) != want {
				c.T.Errorf("%s selects %v", selector, o)
			}
		}

		status := podStatus(c.T, issued)
		c.fails(n1, nodes, 403, "", "PATCH", podRequests+"/r/status", client.MergePatch, status)
		c.allow("signer", "podcertificaterequests/status", "get", "")
		c.allow("signer", "podcertificaterequests/status", "patch", "")
		c.fails("signer", nil, 422, `spec.signerName: Forbidden: User "signer" is not permitted to "sign" for signer "example.com/s"`,
			"PATCH", podRequests+"/r/status", client.MergePatch, status)
		c.as("signer", nil, 200, "PATCH", podRequests+"/r/status", client.MergePatch, `{"status":{}}`)
		c.allow("signer", "signers", "sign", "example.com/s")
		c.fails("signer", nil, 422, "leaf certificate was not issued to the requested public key", "PATCH", podRequests+"/r/status", client.MergePatch,
			podStatus(c.T, pki.Issue(c.T, tls.Certificate{}, &x509.Certificate{NotBefore: begin, NotAfter: begin.Add(2 * time.Hour)})))
		if o := c.as("signer", nil, 200, "PATCH", podRequests+"/r/status", client.MergePatch, status); o.At("status.certificateChain") != string(pki.PEM(issued.Leaf)) {
			c.T.Errorf("signed: %v", o)
		}
		c.fails("signer", nil, 422, "immutable after PodCertificateRequest is issued, denied, or failed", "PATCH", podRequests+"/r/status", client.MergePatch, `{"status":{"notAfter":null}}`)
		c.fails("", nil, 422, "spec: Invalid value", "PATCH", podRequests+"/r", client.MergePatch, `{"spec":{"podUID":"other"}}`)
	})
}

// TestPodCertificateVersions checks that v1 lacks the deprecated fields of v1beta1.
func TestPodCertificateVersions(t *testing.T) {
	openCertificatesInProfiles(t, func(c *daemon.Config) {
		c.API.RuntimeConfig = daemon.Switches{client.Named(c.Naming, "certificates.platform.io/v1beta1"): true}
	}, func(c *certificateCluster) {
		key := pki.NewKey(c.T)
		digest := sha256.Sum256([]byte("u"))
		beta := strings.Replace(podRequests, "/v1/", "/v1beta1/", 1)
		c.must(201, "POST", beta, client.JSON, string(client.Encode(c.T, map[string]any{"metadata": map[string]any{"name": "r"}, "spec": map[string]any{
			"signerName": "example.com/s", "podName": "p", "podUID": "u", "serviceAccountName": "a", "serviceAccountUID": "u", "nodeName": "n", "nodeUID": "u",
			"pkixPublicKey":     must(x509.MarshalPKIXPublicKey(key.Public()))(c.T),
			"proofOfPossession": must(ecdsa.SignASN1(rand.Reader, key, digest[:]))(c.T),
		}})))
		for path, want := range map[string]bool{beta: true, podRequests: false} {
			spec := c.must(200, "GET", path+"/r", "", "")["spec"].(map[string]any)
			for _, name := range []string{"pkixPublicKey", "proofOfPossession"} {
				if _, has := spec[name]; has != want {
					c.T.Errorf("%s: %v", path, spec)
				}
			}
		}
		c.must(200, "PATCH", podRequests+"/r/status", client.MergePatch,
			`{"status":{"conditions":[{"type":"Denied","status":"True","reason":"R","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`)
		if o := c.must(200, "GET", beta+"/r", "", ""); o.At("spec.pkixPublicKey") == nil || o.At("status.conditions") == nil {
			c.T.Errorf("after a write of v1: %v", o)
		}
		c.must(200, "DELETE", podRequests+"/r", "", "")
	})
}

// podRequest creates a Pod on the node n1, and returns a request for its certificate.
func (c *certificateCluster) podRequest(key *ecdsa.PrivateKey) string {
	c.T.Helper()
	create := func(path, body string) string { return c.must(201, "POST", path, client.JSON, body).UID() }
	node := create("/api/v1/nodes", `{"metadata":{"name":"n1"}}`)
	account := create("/api/v1/namespaces/default/serviceaccounts", `{"metadata":{"name":"robot"}}`)
	pod := create("/api/v1/namespaces/default/pods", `{"metadata":{"name":"p"},"spec":{"nodeName":"n1","serviceAccountName":"robot","containers":[{"name":"c","image":"i"}],
		"volumes":[{"name":"v","projected":{"sources":[{"podCertificate":{"signerName":"example.com/s","keyType":"ECDSAP256","credentialBundlePath":"b"}}]}}]}}`)
	return string(client.Encode(c.T, map[string]any{"metadata": map[string]any{"name": "r"}, "spec": map[string]any{
		"signerName": "example.com/s", "podName": "p", "podUID": pod, "serviceAccountName": "robot", "serviceAccountUID": account, "nodeName": "n1", "nodeUID": node,
		"stubPKCS10Request": must(x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{}, key))(c.T),
	}}))
}

// podStatus returns a patch with which a signer issues a certificate.
func podStatus(t *testing.T, issued tls.Certificate) string {
	t.Helper()
	return string(client.Encode(t, map[string]any{"status": map[string]any{
		"conditions":       []any{map[string]any{"type": "Issued", "status": "True", "reason": "R", "message": "", "lastTransitionTime": issued.Leaf.NotBefore}},
		"certificateChain": string(pki.PEM(issued.Leaf)), "notBefore": issued.Leaf.NotBefore, "notAfter": issued.Leaf.NotAfter, "beginRefreshAt": issued.Leaf.NotBefore.Add(time.Hour),
	}}))
}

// allow grants a user a verb on a resource of the certificates API group, or on one object of it.
func (c *certificateCluster) allow(user, resource, verb, name string) {
	c.T.Helper()
	const roles = "/apis/rbac.authorization.platform.io/v1/"
	names := ""
	if name != "" {
		names = fmt.Sprintf(`,"resourceNames":[%q]`, name)
	}
	role := c.must(201, "POST", roles+"clusterroles", client.JSON, fmt.Sprintf(
		`{"metadata":{"generateName":"test-"},"rules":[{"apiGroups":["certificates.platform.io"],"resources":[%q],"verbs":[%q]%s}]}`, resource, verb, names)).Name()
	c.must(201, "POST", roles+"clusterrolebindings", client.JSON, fmt.Sprintf(`{"metadata":{"generateName":"test-"},
		"roleRef":{"apiGroup":"rbac.authorization.platform.io","kind":"ClusterRole","name":%q},
		"subjects":[{"apiGroup":"rbac.authorization.platform.io","kind":"User","name":%q}]}`, role, user))
}
