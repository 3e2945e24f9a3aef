package policy

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client/pki"
)

const (
	securityRequests     = "/apis/certificates.platform.io/v1/certificatesigningrequests"
	securityClientSigner = "platform.io/apiserver-client"
	nodeSigner           = "platform.io/apiserver-client-node"
)

// TestCertificateRequests checks that users cannot request certificates for system:masters, and
// nodes cannot request them for other nodes. The server sets the requester and status, and the spec
// is immutable.
func TestCertificateRequests(t *testing.T) {
	v := start(t, createUsers(t, "jane", "system:node:n1=system:nodes"), func(c *daemon.Config) {
		c.Admission.Enable, c.Authorization.Modes = []string{"NodeRestriction"}, []string{"Node", "RBAC"}
	})
	const node = "system:node:n1"
	v.grant("asking", "jane", `{"apiGroups":["certificates.platform.io"],"resources":["certificatesigningrequests"],"verbs":["get","create","update","patch"]}`)
	masters := pki.SigningRequest(t, "m", securityClientSigner, "jane", "devs", "system:masters")
	other := pki.SigningRequest(t, "m", nodeSigner, "system:node:n2", "system:nodes")
	for _, user := range []string{"jane", node} {
		v.want(user, "POST", securityRequests, typeJSON, masters, 403)
		v.want(user, "POST", securityRequests+"?dryRun=All", typeJSON, masters, 403)
		v.want(user, "PUT", securityRequests+"/m", typeJSON, masters, 403, 404)
		v.want(user, "PATCH", securityRequests+"/m?fieldManager=m", typeApply, masters, 403)
	}
	v.want(node, "POST", securityRequests, typeJSON, other, 403)
	v.want(node, "POST", securityRequests, "application/yaml", other, 403)
	if code, text := v.do("POST", securityRequests, typeJSON, masters); code != 403 {
		t.Errorf("the administrator asks for system:masters: %d %s", code, text)
	}
	v.must(404, "GET", securityRequests+"/m", "", "")
	v.want(node, "POST", securityRequests, typeJSON, pki.SigningRequest(t, "n", nodeSigner, node, "system:nodes"), 201)

	forged := strings.Replace(pki.SigningRequest(t, "a", securityClientSigner, "jane"), `"usages"`, `"username":"admin","uid":"f0rged","groups":["system:masters"],"extra":{"f0rged":["x"]},"usages"`, 1)
	forged = strings.TrimSuffix(forged, "}") + `,"status":{"certificate":"Zm9yZ2Vk","conditions":[{"type":"Approved","status":"True"}]}}`
	v.want("jane", "POST", securityRequests, typeJSON, forged, 201)
	text := v.must(200, "GET", securityRequests+"/a", "", "")
	spec := text[strings.Index(text, `"spec":`):] // includes the status
	for _, trace := range []string{"f0rged", "admin", "system:masters", "Approved", "Zm9yZ2Vk"} {
		if strings.Contains(spec, trace) {
			t.Errorf("%s is in %s", trace, spec)
		}
	}
	if !strings.Contains(spec, `"username":"jane"`) {
		t.Errorf("the requester is wrong: %s", spec)
	}

	// Writes to the main resource do not change the spec or status.
	changed := strings.Replace(strings.Replace(forged, "client auth", "cert sign", 1), securityClientSigner, "example.com/ca", 1)
	for _, test := range []struct{ method, path, kind, body string }{
		{"PUT", securityRequests + "/a", typeJSON, changed},
		{"PATCH", securityRequests + "/a", typeJSONPatch, `[{"op":"replace","path":"/spec/usages","value":["cert sign"]},{"op":"add","path":"/status","value":{"conditions":[{"type":"Approved","status":"True"}]}}]`},
		{"PATCH", securityRequests + "/a", typeMerge, `{"spec":{"usages":["cert sign"],"username":"admin"},"status":{"certificate":"Zm9yZ2Vk","conditions":[{"type":"Approved","status":"True"}]}}`},
		{"PATCH", securityRequests + "/a", typeStrategic, `{"spec":{"groups":["system:masters"]},"status":{"conditions":[{"type":"Approved","status":"True"}]}}`},
		{"PATCH", securityRequests + "/a?fieldManager=j&force=true", typeApply, changed},
	} {
		v.want("jane", test.method, test.path, test.kind, test.body, 200, 403, 409, 422)
		if now := v.must(200, "GET", securityRequests+"/a", "", ""); now[strings.Index(now, `"spec":`):] != spec {
			t.Errorf("%s %s changes the request:\n%s\n%s", test.method, test.kind, now, text)
		}
	}
}

// decisions returns requests that write a condition or certificate through the subresource sub, as
// method, path, content type and body. status contains the fields to write, and current is the
// whole object.
func decisions(name, sub, status, current string) [][4]string {
	path := securityRequests + "/" + name + "/" + sub
	whole := strings.TrimSuffix(current, "}") + `,"status":{` + status + `}}`
	if at := strings.LastIndex(current, `,"status":`); at > 0 {
		whole = current[:at] + `,"status":{` + status + `}}`
	}
	config := `{"apiVersion":"certificates.platform.io/v1","kind":"CertificateSigningRequest","metadata":{"name":"` + name + `"},"status":{` + status + `}}`
	return [][4]string{
		{"PUT", path, typeJSON, whole},
		{"PATCH", path, typeJSONPatch, `[{"op":"add","path":"/status","value":{` + status + `}}]`},
		{"PATCH", path, typeMerge, `{"status":{` + status + `}}`},
		{"PATCH", path, typeStrategic, `{"status":{` + status + `}}`},
		{"PATCH", path + "?fieldManager=d&force=true", typeApply, config},
		{"PATCH", path + "?dryRun=All", typeMerge, `{"status":{` + status + `}}`},
	}
}

// TestCertificateApproval checks that, for every type of write, approving and signing require
// permission for the signer and the correct subresource.
func TestCertificateApproval(t *testing.T) {
	v := start(t, createUsers(t, "clerk", "approver", "signer"))
	all := `{"apiGroups":["certificates.platform.io"],"resources":["certificatesigningrequests","certificatesigningrequests/approval","certificatesigningrequests/status"],"verbs":["get","create","update","patch"]}`
	on := func(verb, names string) string {
		return all + `,{"apiGroups":["certificates.platform.io"],"resources":["signers"],"verbs":["` + verb + `"],"resourceNames":[` + names + `]}`
	}
	v.grant("clerk", "clerk", on("approve", `"example.com/x","example.com/*","platform.io"`)) // for other signers
	v.grant("approver", "approver", on("approve", `"`+securityClientSigner+`"`))
	v.grant("signer", "signer", on("sign", `"platform.io/*"`))
	const (
		approved = `"conditions":[{"type":"Approved","status":"True","reason":"r","message":"m"}]`
		failed   = `"conditions":[{"type":"Failed","status":"True","reason":"r","message":"m"}]`
	)
	v.must(201, "POST", securityRequests, typeJSON, pki.SigningRequest(t, "a", securityClientSigner, "jane"))
	certificate := `"certificate":"` + base64.StdEncoding.EncodeToString(v.read("admin.crt")) + `"`
	before := v.must(200, "GET", securityRequests+"/a", "", "")
	for _, test := range []struct {
		user, sub, status string
		codes             []int
	}{
		{"clerk", "approval", approved, []int{403}},
		{"signer", "approval", approved, []int{403}},
		{"clerk", "status", failed, []int{403}},
		{"approver", "status", failed, []int{403}},
		// An invalid change is rejected as invalid, regardless of the user's permissions.
		{"clerk", "status", certificate, []int{422}},
		{"approver", "status", certificate, []int{422}},
		{"approver", "status", approved, []int{422}},
		{"clerk", "status", approved, []int{422}},
		// The user has permission, but uses the wrong subresource.
		{"signer", "status", approved, []int{422}},
		{"approver", "approval", certificate, []int{422}},
	} {
		for _, d := range decisions("a", test.sub, test.status, before) {
			v.want(test.user, d[0], d[1], d[2], d[3], test.codes...)
		}
	}
	if after := v.must(200, "GET", securityRequests+"/a", "", ""); after != before {
		t.Errorf("something has changed:\n%s\n%s", before, after)
	}
	// Writes to a subresource do not create objects.
	for _, sub := range []string{"approval", "status"} {
		for _, d := range decisions("none", sub, approved, strings.Replace(before, `"name":"a"`, `"name":"none"`, 1)) {
			v.want("approver", d[0], d[1], d[2], d[3], 403, 404, 409)
		}
	}
	v.must(404, "GET", securityRequests+"/none", "", "")
	// With permission for the signer, a write succeeds, but changes only the decision.
	spec := func(text string) string {
		return text[strings.Index(text, `"spec"`):strings.Index(text, `,"status"`)]
	}
	v.want("approver", "PATCH", securityRequests+"/a/approval", typeMerge, `{"spec":{"usages":["cert sign"],"username":"admin"},"status":{`+approved+`}}`, 200)
	for _, user := range []string{"clerk", "approver"} {
		v.want(user, "PATCH", securityRequests+"/a/status", typeMerge, `{"status":{`+certificate+`}}`, 403)
	}
	v.want("signer", "PATCH", securityRequests+"/a/status", typeMerge, `{"spec":{"request":"eA=="},"status":{`+certificate+`}}`, 200)
	after := v.must(200, "GET", securityRequests+"/a", "", "")
	if !strings.Contains(after, "Approved") || !strings.Contains(after, certificate) || spec(after) != spec(before+`,"status"`) {
		t.Errorf("decided is %s\nof %s", after, before)
	}
	// A decision cannot be removed.
	v.want("approver", "PATCH", securityRequests+"/a/approval", typeMerge, `{"status":{"conditions":[]}}`, 422)
	v.want("signer", "PATCH", securityRequests+"/a/status", typeMerge, `{"status":{"certificate":null}}`, 422)
}
