package policy_test

import (
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/policy/authn/serviceaccount"
	"github.com/troupe-api/troupe/policy/authz"
	"github.com/troupe-api/troupe/policy/certs"
	"github.com/troupe-api/troupe/policy/kubeconfig"
)

// FuzzAccountToken checks that only the valid token authenticates, whatever follows or precedes it.
func FuzzAccountToken(f *testing.F) {
	w := newFixture(f)
	good := w.newToken(boundTo("Pod pod"))
	for i, part := range strings.Split(good, ".") {
		f.Add(uint16(i), part)
	}
	f.Add(uint16(0), "")
	f.Add(uint16(70), `{"alg":"none"}`)
	f.Fuzz(func(t *testing.T, at uint16, inserted string) {
		i := int(at) % (len(good) + 1)
		for _, token := range []string{inserted, good[:i] + inserted + good[i:], good[:i] + inserted, inserted + good[i:]} {
			if user, _ := w.authenticate(token, audience); (user != nil) != (token == good) {
				t.Errorf("%q for %q: got %+v", token, good, user)
			}
		}
	})
}

// FuzzCertificateRequest checks that a request is either rejected or has an encoding that is parsed
// to the same request.
func FuzzCertificateRequest(f *testing.F) {
	f.Add([]byte("x"))
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: "jane"}}, newECDSA(f, elliptic.P256()))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(der)
	f.Fuzz(func(t *testing.T, der []byte) {
		text := base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}))
		request, err := certs.ParseRequest(text)
		if err == nil && string(request.Raw) != string(der) {
			t.Errorf("%x: got %x", der, request.Raw)
		}
	})
}

// FuzzKeys checks that key files are either rejected or contain keys with a method and an ID.
func FuzzKeys(f *testing.F) {
	f.Add([]byte("x"))
	f.Add(privatePEM(f, newFixture(f).key))
	f.Fuzz(func(t *testing.T, text []byte) {
		keys, err := serviceaccount.ReadKeys(text)
		if (err == nil) != (len(keys) > 0) {
			t.Errorf("%q: got %d keys, %v", text, len(keys), err)
		}
	})
}

// FuzzKubeconfig checks that a kubeconfig is either rejected or usable. It must not run a program.
func FuzzKubeconfig(f *testing.F) {
	const head = "clusters: [{name: c, cluster: {server: 'https://a:1', certificate-authority-data: eA==}}]\ncontexts: [{name: x, context: {cluster: c, user: u}}]\ncurrent-context: x\n"
	for _, user := range []string{"", "token: t", "username: a, password: b", "auth-provider: {name: oidc, config: {idp-issuer-url: 'https://b'}}", "exec: {apiVersion: client.authentication.k8s.io/v1, command: none}", "as: a, as-groups: [b]"} {
		f.Add([]byte(head + "users: [{name: u, user: {" + user + "}}]\n"))
	}
	f.Add([]byte("current-context: &a [*a]"))
	path := filepath.Join(f.TempDir(), "config")
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := kubeconfig.Load(path)
		if err == nil && (c == nil || c.Server == nil || c.Server.Host == "") {
			t.Errorf("%q: got %+v", text, c)
		}
	})
}

// FuzzABAC checks that a policy file is either rejected or grants nothing to users without a name
// in it.
func FuzzABAC(f *testing.F) {
	const head = `{"apiVersion":"abac.authorization.platform.io/v1beta1","kind":"Policy","spec":{`
	for _, spec := range []string{`"user":"a","namespace":"*","resource":"pods","readonly":true`, `"group":"g","nonResourcePath":"/x*"`, `"user":"a","apiGroup":"*"`} {
		f.Add(head + spec + "}}")
	}
	f.Add("# comment\n\n")
	kinds, err := platformCatalog()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := authz.ParseABAC(strings.NewReader(text), kinds)
		if err != nil {
			return
		}
		d, _ := p.Authorize(authz.Attributes{User: jane, Verb: "get", ResourceRequest: true, Resource: "pods", Namespace: "n"})
		named := strings.ContainsAny(text, `*\`) || strings.Contains(text, jane.Name) || strings.Contains(text, jane.Groups[0])
		if d == authz.Allow && !named {
			t.Errorf("%q allows jane to get pods", text)
		}
	})
}
