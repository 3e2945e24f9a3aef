package policy_test

import (
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/policy/authn/oidc"
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

// FuzzOIDCToken checks that only the valid token authenticates, whatever follows or precedes it.
func FuzzOIDCToken(f *testing.F) {
	p := newFakeProvider(f)
	p.keys = []map[string]any{jwk("a", rsaKeys()[0])}
	good := p.signToken(f, jwt.SigningMethodRS256, rsaKeys()[0], map[string]any{"kid": "a"}, nil)
	tokens := oidc.New(p.options(new(atomic.Int64)))
	must.Succeed(f, tokens.Load(f.Context()))
	for i, part := range strings.Split(good, ".") {
		f.Add(uint16(i), part)
	}
	f.Add(uint16(0), "")
	f.Add(uint16(30), `{"alg":"none"}`)
	f.Fuzz(func(t *testing.T, at uint16, inserted string) {
		i := int(at) % (len(good) + 1)
		for _, token := range []string{inserted, good[:i] + inserted + good[i:], good[:i] + inserted, inserted + good[i:]} {
			if user, _ := tokens.Authenticate(bearer(token)); (user != nil) != (token == good) {
				t.Errorf("%q for %q: got %+v", token, good, user)
			}
		}
	})
}

// FuzzOIDCClaims checks that a signed token authenticates only the user of its claims, as
// encoding/json reads them.
func FuzzOIDCClaims(f *testing.F) {
	p := newFakeProvider(f)
	p.keys = []map[string]any{jwk("a", ecKey())}
	o := p.options(new(atomic.Int64))
	o.Algorithms = []string{"ES256"}
	tokens := oidc.New(o)
	must.Succeed(f, tokens.Load(f.Context()))
	for _, more := range []string{`"groups":["a","system:b"]`, `"nbf":1`, `"exp":1`, `"aud":["x","ours"]`, `"sub":""`, `"iss":"x"`, `"exp":1e300`, `"nbf":2e9`, `"groups":"a"`, `"aud":{}`, `"jti":1`, `"Sub":"x"`} {
		f.Add(more)
	}
	f.Fuzz(func(t *testing.T, more string) {
		text := fmt.Sprintf(`{"iss":%q,"aud":"us","sub":"jane","exp":%d,%s}`, p.URL, now.Add(time.Hour).Unix(), more)
		signed := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"ES256"}`)) + "." + base64.RawURLEncoding.EncodeToString([]byte(text))
		signature := must.Get(jwt.SigningMethodES256.Sign(signed, ecKey()))(t)
		user, _ := tokens.Authenticate(bearer(signed + "." + base64.RawURLEncoding.EncodeToString(signature)))
		if user == nil {
			return
		}
		var claims map[string]any
		must.Succeed(t, json.Unmarshal([]byte(text), &claims))
		expiry, _ := claims["exp"].(float64)
		notBefore, _ := claims["nbf"].(float64)
		groups, _ := claims["groups"].([]any)
		allowed := slices.DeleteFunc(groups, func(g any) bool { return g == "" || strings.HasPrefix(g.(string), "system:") })
		if claims["iss"] != p.URL || user.Name != fmt.Sprint(p.URL, "#", claims["sub"]) || expiry <= float64(now.Unix()) || notBefore > float64(now.Add(5*time.Minute).Unix()) ||
			fmt.Sprint(user.Groups) != fmt.Sprint(allowed) {
			t.Errorf("%s: got %+v", text, user)
		}
	})
}

// FuzzOIDCKeys checks that a fetched key set is either rejected, or verifies only the tokens of its
// keys.
func FuzzOIDCKeys(f *testing.F) {
	p := newFakeProvider(f)
	key := jwk("a", rsaKeys()[0])
	p.keys = []map[string]any{key}
	token := p.signToken(f, jwt.SigningMethodRS256, rsaKeys()[0], nil, nil)
	good := string(must.Get(json.Marshal(map[string]any{"keys": p.keys}))(f))
	for i, s := range []string{"", `{"kty":"EC","crv":"P-256","x":"","y":"AA=="},`, `{"kty":"RSA","n":"AQAB","e":"AQAB"},`, `"use":"enc",`, "null", "[", "\x00"} {
		f.Add(uint16(10*i), s)
	}
	tokens := oidc.New(p.options(new(atomic.Int64)))
	must.Succeed(f, tokens.Load(f.Context()))
	f.Fuzz(func(t *testing.T, at uint16, inserted string) {
		i := int(at) % (len(good) + 1)
		text := good[:i] + inserted + good[i:]
		p.update(func() {
			p.override = func(w http.ResponseWriter, r *http.Request) bool {
				return r.URL.Path == "/keys" && respondWith(http.StatusOK, text)(w, r)
			}
		})
		if tokens.Load(t.Context()) != nil {
			return
		}
		user, _ := tokens.Authenticate(bearer(token))
		if user != nil && !strings.Contains(text, key["n"].(string)) && !strings.Contains(text, `\`) || user == nil && text == good {
			t.Errorf("%s: got %+v", text, user)
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
